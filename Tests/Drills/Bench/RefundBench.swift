import Granting

/// How much a batch saves when refunds are told: Granting's own handler and transaction, with 64 notifications and with
/// one, on a database in which a hundred thousand purchases lie. Every refund takes back a purchase granted before.
enum RefundBench {
    private static let rounds = 9
    /// The prefetch of a lane, so the largest batch there is.
    private static let batch = 64
    /// Batches a turn: 512 refunds, a good tenth of a second.
    private static let batches = 8
    /// Single transactions a turn: about as long.
    private static let singles = 96

    static func run(_ report: inout BenchReport) throws {
        var database = try GrantDatabase.make("bench_refunds", rows: GrantDatabase.manyRows)
        let turns = rounds + 1
        let count = turns * (batch * batches + singles)
        // Whole batches, so that no purchase is missing at the end.
        let granted = (count + batch - 1) / batch * batch
        try database.order(granted)
        _ = try database.rate(batches: granted / batch, of: batch)
        var rates: [[Double]] = [[], []]
        for turn in 0..<turns {
            let measured = [
                try database.refundRate(batches: batches, of: batch), try database.refundRate(batches: singles, of: 1),
            ]
            // The first turn fills caches.
            if turn > 0 { for place in measured.indices { rates[place].append(measured[place]) } }
        }
        let medians = rates.map { Statistics.median($0) ?? 0 }
        report.add(
            Measurement(
                "refund_batch_vs_single", Interleaved.ratio(rates[0], rates[1]), "", .atLeast(4),
                how: "\(Int(medians[0])) refunds/s in transactions of \(batch), \(Int(medians[1])) in transactions of "
                    + "one, on \(GrantDatabase.manyRows) rows"))
        try database.drop()
    }
}
