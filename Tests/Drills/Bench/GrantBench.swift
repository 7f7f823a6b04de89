import Granting
import Messages
import Pipeline
import Postgres

/// How much a batch saves: Granting's own handler and transaction, with 64 purchases and with one, on a database in
/// which a hundred thousand purchases lie; and what such a purchase costs there compared with an empty one.
enum GrantBench {
    /// Turns of everything that is compared.
    private static let rounds = 9
    /// The prefetch of a lane, so the largest batch there is.
    private static let batch = 64
    /// Batches a turn: 512 purchases, a good tenth of a second.
    private static let batches = 8
    /// Single transactions a turn: about as long.
    private static let singles = 96

    static func run(_ report: inout BenchReport) throws {
        var filled = try GrantDatabase.make("bench_filled", rows: GrantDatabase.manyRows)
        var fresh = try GrantDatabase.make("bench_fresh", rows: 0)
        let turns = rounds + 1
        try filled.order(turns * (batch * batches + singles))
        try fresh.order(turns * batch * batches)
        var rates: [[Double]] = [[], [], []]
        for turn in 0..<turns {
            let measured = [
                try filled.rate(batches: batches, of: batch), try filled.rate(batches: singles, of: 1),
                try fresh.rate(batches: batches, of: batch),
            ]
            // The first turn fills caches.
            if turn > 0 { for place in measured.indices { rates[place].append(measured[place]) } }
        }
        let medians = rates.map { Statistics.median($0) ?? 0 }
        report.add(
            Measurement(
                "grant_batch_vs_single", Interleaved.ratio(rates[0], rates[1]), "", .atLeast(5),
                how:
                    "\(Int(medians[0])) purchases/s in transactions of \(batch), \(Int(medians[1])) in transactions of "
                    + "one, on \(GrantDatabase.manyRows) rows"))
        report.add(
            Measurement(
                "grant_time_filled_vs_fresh", Interleaved.ratio(rates[2], rates[0]), "",
                how: "\(Decimal.text(1e6 / medians[0])) µs a purchase on \(GrantDatabase.manyRows) rows, "
                    + "\(Decimal.text(1e6 / medians[2])) on a fresh database"))
        try filled.drop()
        try fresh.drop()
    }
}
