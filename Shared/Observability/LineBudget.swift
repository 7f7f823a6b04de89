import Synchronization

/// Lets through a few log lines a second of each kind, and says how many it kept back: a flood must not become a flood of
/// lines. Metrics count everything.
public final class LineBudget: Sendable {
    private struct Second {
        var began: Int64
        var lines = 0
        var keptBack = 0
    }

    /// Lines a second of one kind: enough to see who and what, a nuisance for no disk.
    public static let linesPerSecond = 10
    private static let second: Int64 = 1_000_000_000
    private let seconds = Mutex<[String: Second]>([:])
    private let now: @Sendable () -> Int64

    /// A budget; `now` is in nanoseconds of a monotonic clock. Kinds must be few: they are remembered for ever.
    public init(now: @escaping @Sendable () -> Int64) { self.now = now }

    /// A budget by the system's clock.
    public convenience init() {
        let start = ContinuousClock.now
        self.init {
            let (seconds, attoseconds) = start.duration(to: .now).components
            return seconds * Self.second + attoseconds / 1_000_000_000
        }
    }

    /// Whether a line of this kind may be written now, and then how many were kept back since the last one.
    public func line(_ kind: String) -> Int? {
        let time = now()
        return seconds.withLock { seconds in
            var second = seconds[kind] ?? Second(began: time)
            defer { seconds[kind] = second }
            if time - second.began >= Self.second { second = Second(began: time, keptBack: second.keptBack) }
            guard second.lines < Self.linesPerSecond else {
                second.keptBack += 1
                return nil
            }
            second.lines += 1
            defer { second.keptBack = 0 }
            return second.keptBack
        }
    }
}
