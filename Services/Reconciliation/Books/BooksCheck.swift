import JSON
import Messages
import Postgres

/// Goes round all wallets, some pages at a time: Σ ledger = balance = Σ lots, of every account.
///
/// A page of 500 customers is read by Granting at one instant, so an account that moves is never a finding. Twenty pages
/// a round are 10,000 customers; with a round every ten seconds a small installation is looked at in each, one of 3.6
/// million customers in an hour.
struct BooksCheck {
    let sources: any BookSources

    /// Pages of a round at most.
    private static let mostPages = 20

    /// Looks at the next pages; returns how many findings are new and how many ended. Throws `RequestError`, and what
    /// the database throws.
    func run(_ now: Int64, _ connection: inout Connection) throws -> (opened: Int, resolved: Int) {
        var counts = (opened: 0, resolved: 0)
        for _ in 0..<Self.mostPages {
            let row = try connection.query("SELECT value, place FROM reconciliation.cursors WHERE name = 'books'")
                .single()
            let (pass, place) = (try row.int8("value"), try row.optionalText("place"))
            let page = try sources.books(
                after: place.map { CustomerID($0) }, limit: BooksPageRequested.mostCustomers)
            let found = try connection.transaction { transaction in
                let moved = try transaction.query(
                    """
                    UPDATE reconciliation.cursors SET value = $2, place = $3, updated_at = clock_timestamp()
                    WHERE name = 'books' AND value = $1 AND place IS NOT DISTINCT FROM $4::text RETURNING 1 AS moved
                    """,
                    [
                        .int8(pass), .int8(page.hasMore ? pass : pass + 1),
                        .text(page.hasMore ? page.last?.rawValue : nil), .text(place),
                    ])
                guard !moved.isEmpty else { return (0, 0) }
                return try Self.record(page, after: place, now: now, in: &transaction)
            }
            counts.opened += found.0
            counts.resolved += found.1
            if !page.hasMore { break }
        }
        return counts
    }

    /// Opens what a page shows, and ends what it shows no more.
    static func record(
        _ page: BooksPageAnswered, after place: String?, now: Int64, in transaction: inout Transaction
    ) throws -> (Int, Int) {
        let findings = page.differences.map(NewFinding.books)
        let opened = try FindingStore.open(findings, now: now, in: &transaction)
        // Of these customers only; the books of a page without an end are all that are left.
        let waiting = try transaction.query(
            """
            SELECT kind, subject FROM reconciliation.findings
            WHERE kind IN ('balance_differs', 'lots_differ') AND state <> 'resolved'
                AND split_part(subject, '/', 2) > $1 AND ($2::text IS NULL OR split_part(subject, '/', 2) <= $2)
            """, [.text(place ?? ""), .text(page.hasMore ? page.last?.rawValue : nil)])
        var resolved = 0
        for kind in [FindingKind.balanceDiffers, .lotsDiffer] {
            let seen = Set(findings.filter { $0.kind == kind }.map(\.subject))
            let over = try waiting.filter { try $0.text("kind") == kind.rawValue }.map { try $0.text("subject") }
                .filter { !seen.contains($0) }
            resolved += try FindingStore.resolve(
                [kind], subjects: over, reason: "the books agree", now: now, in: &transaction)
        }
        return (opened, resolved)
    }
}

extension NewFinding {
    /// An account whose books do not agree. Ledger and lots come from one decision each, so where they agree it is the
    /// balance that is wrong; where only the lots stand apart, it is they.
    static func books(_ difference: BooksDifference) -> NewFinding {
        let areLotsAlone =
            difference.lots != difference.balance && difference.balance == difference.ledger
            && difference.brokenLines == 0 && difference.newest ?? 0 == difference.balance
        return NewFinding(
            areLotsAlone ? .lotsDiffer : .balanceDiffers,
            subject: "\(difference.app)/\(difference.customer)/\(difference.asset)", app: difference.app,
            evidence: [
                "customer": .string(difference.customer.rawValue), "asset": .string(difference.asset.rawValue),
                "balance": .integer(difference.balance), "ledger": .integer(difference.ledger),
                "lots": .integer(difference.lots), "newest": difference.newest.map { .integer($0) } ?? .null,
                "brokenLines": .integer(difference.brokenLines),
            ])
    }
}
