/// Exponential backoff with full jitter: the n-th wait is drawn evenly from 0 … min(limit, base × 2ⁿ).
///
/// Full jitter spreads clients that lost the same server at the same moment (AWS architecture blog, "Exponential
/// Backoff and Jitter").
public struct Backoff: Sendable {
    /// Upper end of the first wait.
    public let base: Duration
    /// Upper end no wait exceeds.
    public let limit: Duration
    /// How many waits were handed out since the last reset.
    public private(set) var attempts = 0

    /// A fresh backoff. The defaults suit reconnecting to a server of the same data centre.
    public init(base: Duration = .milliseconds(100), limit: Duration = .seconds(5)) {
        self.base = base
        self.limit = limit
    }

    /// The next wait, drawn from the system's generator.
    public mutating func next() -> Duration {
        var generator = SystemRandomNumberGenerator()
        return next(using: &generator)
    }

    /// The next wait, drawn from the given generator (tests give a seeded one).
    public mutating func next(using generator: inout some RandomNumberGenerator) -> Duration {
        // 2^30 × any sensible base is beyond any sensible limit; more would overflow.
        let ceiling = min(limit, base * (1 << min(attempts, 30)))
        attempts += 1
        // The upper 53 bits, as many as a Double holds: an even draw from 0 ..< 1 with one number of the generator.
        return ceiling * (Double(generator.next() >> 11) * 0x1p-53)
    }

    /// Starts over after a success.
    public mutating func reset() { attempts = 0 }
}
