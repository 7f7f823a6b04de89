import Synchronization

/// How measured values are distributed, as counts below fixed bounds. Any thread may use it.
public final class Histogram: Sendable {
    /// Bounds in seconds for latencies: from half a millisecond, a single local commit, to the 10 s after which every
    /// caller has given up.
    public static let latencySeconds: [Double] = [
        0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
    ]

    /// Bounds for how many messages one round took: powers of two up to the largest prefetch.
    public static let batchSizes: [Double] = [1, 2, 4, 8, 16, 32, 64, 128, 256]

    /// What was observed so far.
    struct Snapshot: Sendable, Equatable {
        /// One count per bound, not yet cumulated, and one more for what is larger than every bound.
        var counts: [Int]
        var sum: Double
    }

    let bounds: [Double]
    private let state: Mutex<Snapshot>

    init(bounds: [Double]) {
        let sorted = Set(bounds.filter(\.isFinite)).sorted()
        self.bounds = sorted
        state = Mutex(Snapshot(counts: Array(repeating: 0, count: sorted.count + 1), sum: 0))
    }

    /// Records one value, in the unit of the bounds. NaN is ignored: it would spoil the sum for ever.
    public func observe(_ value: Double) {
        guard !value.isNaN else { return }
        let index = bounds.firstIndex { value <= $0 } ?? bounds.count
        state.withLock {
            $0.counts[index] += 1
            $0.sum += value
        }
    }

    /// Records a time span in seconds.
    public func observe(_ span: Duration) {
        observe(span.milliseconds / 1_000)
    }

    /// How many values were recorded.
    public var count: Int { snapshot().counts.reduce(0, +) }

    func snapshot() -> Snapshot { state.withLock { $0 } }
}
