import Glibc
import Synchronization

/// ``TokenBuckets`` that many threads share, with a clock.
///
/// One lock: a decision holds it for some 100 ns, so at 5,000 requests a second it is free 99.9 % of the time.
public final class RateLimiter: Sendable {
    private let buckets: Mutex<TokenBuckets>
    private let now: @Sendable () -> Int64

    /// Clients that are remembered; 384 KiB. A client counts only as long as its bucket is not full, which at usual rates
    /// is a fraction of a second after each request: even 5,000 strangers a second need a tenth of these places.
    public static let capacity = 16_384

    /// A limiter.
    /// - Parameter now: nanoseconds of a monotonic clock.
    public init(
        _ rate: TokenBuckets.Rate, capacity: Int = RateLimiter.capacity,
        now: @escaping @Sendable () -> Int64 = RateLimiter.monotonicNanoseconds
    ) {
        buckets = Mutex(TokenBuckets(rate, capacity: capacity))
        self.now = now
    }

    /// A limiter, or nil if `perSecond` is 0: no limit.
    public static func ifLimited(perSecond: Int, burst: Int) -> RateLimiter? {
        perSecond == 0 ? nil : RateLimiter(TokenBuckets.Rate(perSecond: perSecond, burst: burst))
    }

    /// Takes a token of `key` if there is one. Any thread; never waits for anything but the lock.
    public func take(_ key: BucketKey) -> TokenBuckets.Decision {
        let time = now()
        return buckets.withLock { $0.take(key, at: time) }
    }

    /// The system's monotonic clock.
    public static let monotonicNanoseconds: @Sendable () -> Int64 = {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
