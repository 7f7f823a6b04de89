import Messages
import Postgres

/// Looks again at what comparing purchases has found: what agrees now has ended, and a refund that was lost between the
/// services is said again.
struct CaseReview {
    let sources: any Sources

    /// What it looks after; undecided purchases have a repair of their own, and late refunds are for people.
    private static let kinds: [FindingKind] = [.amountDiffers, .orderBehind, .evidenceMissing, .refundMissed]
    /// Cases of a kind in one round.
    private static let window: Int64 = 500
    /// Until a case is looked at again (ms), doubled with each attempt up to an hour.
    private static let pause: Int64 = 60_000
    /// Attempts after which a person should look.
    private static let attemptsForPerson: Int64 = 3

    /// What a round has done.
    struct Counts {
        var resolved = 0
        var redriven = 0
    }

    /// A round. Throws `RequestError`, and what the database throws.
    func run(_ now: Int64, _ connection: inout Connection) throws -> Counts {
        var counts = Counts()
        for kind in Self.kinds {
            let cases = try connection.transaction {
                try FindingStore.window(kind, now: now, limit: Self.window, in: &$0)
            }
            guard !cases.isEmpty else { continue }
            let keys = cases.map(\.entry.key)
            let states = try sources.allDetails(of: keys)
            let due = try connection.transaction { transaction in
                let known = try ComparedTable.read(keys, before: now, in: &transaction)
                // What Apple's own lists told is ended where it is handed in.
                let fed = try AppleFeedTable.subjects(of: kind, among: keys.map(\.description), in: &transaction)
                var (over, waiting): ([String], [FindingStore.Case]) = ([], [])
                for one in cases {
                    guard let state = states[one.entry.key], let record = known[one.entry.key] else { continue }
                    if fed.contains(one.entry.key.description) { continue }
                    let comparison = PurchaseComparison(
                        evidence: record.evidence, state: state, isGrantedAsVerified: record.isGrantedAsVerified)
                    if !comparison.differences().contains(kind) {
                        over.append(one.entry.key.description)
                    } else if one.nextAt <= now {
                        waiting.append(one)
                    }
                }
                counts.resolved += try FindingStore.resolve(
                    [kind], subjects: over, reason: "the books agree", now: now, in: &transaction)
                return try Self.postpone(waiting, of: kind, now: now, in: &transaction)
            }
            for one in due {
                try sources.redrive(one.entry.key, reason: "finding \(one.id)")
                counts.redriven += 1
            }
        }
        return counts
    }

    /// Says when they are looked at again; returns those that are to be said again now.
    private static func postpone(
        _ cases: [FindingStore.Case], of kind: FindingKind, now: Int64, in transaction: inout Transaction
    ) throws -> [FindingStore.Case] {
        guard kind == .refundMissed else {
            try FindingStore.lookAgain(at: now + pause, cases.map(\.id), in: &transaction)
            return []
        }
        let due = cases.map { one in
            (
                one, next: now + min(pause << min(one.attempts, 6), 3_600_000),
                severity: one.attempts >= attemptsForPerson ? FindingSeverity.critical : kind.severity
            )
        }
        let counted = try FindingStore.redrive(due, now: now, in: &transaction)
        return cases.filter { counted.contains($0.id) }
    }
}
