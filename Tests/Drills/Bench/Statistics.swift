/// Medians and percentiles.
enum Statistics {
    /// The middle of the values; nil without any.
    static func median(_ values: [Double]) -> Double? {
        let sorted = values.sorted()
        guard !sorted.isEmpty else { return nil }
        let middle = sorted.count / 2
        return sorted.count.isMultiple(of: 2) ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle]
    }

    /// The smallest value that `percent` of all do not exceed; nil without any.
    static func percentile(_ values: [Double], _ percent: Double) -> Double? {
        let sorted = values.sorted()
        guard !sorted.isEmpty else { return nil }
        let place = Int((Double(sorted.count) * percent / 100).rounded(.up)) - 1
        return sorted[min(max(place, 0), sorted.count - 1)]
    }

    /// Slope of the straight line through the values, one a step.
    static func slope(_ values: [Double]) -> Double {
        guard values.count > 1 else { return 0 }
        let middle = Double(values.count - 1) / 2
        let mean = values.reduce(0, +) / Double(values.count)
        var (above, below) = (0.0, 0.0)
        for (place, value) in values.enumerated() {
            above += (Double(place) - middle) * (value - mean)
            below += (Double(place) - middle) * (Double(place) - middle)
        }
        return above / below
    }
}

extension Duration {
    /// In seconds.
    var inSeconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}

/// Things that are measured in turns, so that whatever disturbs the machine disturbs all of them.
enum Interleaved {
    /// The rates of `subjects`, in units a second: `rounds` times each in turn, for `slice` a time.
    ///
    /// A subject does some units of work and returns how many.
    static func rates(
        rounds: Int, slice: Duration, _ subjects: [() throws -> Int]
    ) throws -> [[Double]] {
        var rates = subjects.map { _ in [Double]() }
        // One turn nobody counts: caches, tables of precomputed points, the processor's clock.
        for round in 0...rounds {
            for (place, subject) in subjects.enumerated() {
                let began = ContinuousClock.now
                var (units, elapsed) = (0, Duration.zero)
                repeat {
                    units += try subject()
                    elapsed = began.duration(to: .now)
                } while elapsed < slice
                if round > 0 { rates[place].append(Double(units) / elapsed.inSeconds) }
            }
        }
        return rates
    }

    /// The median of the rounds' ratios.
    static func ratio(_ subject: [Double], _ reference: [Double]) -> Double {
        Statistics.median(zip(subject, reference).map { $0 / $1 }) ?? 0
    }
}
