import Glibc

/// The time of day.
public enum WallClock {
    /// Milliseconds since 1970 UTC.
    public static var milliseconds: Int64 {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        return Int64(now.tv_sec) * 1_000 + Int64(now.tv_nsec) / 1_000_000
    }
}
