import JSON
import Messages
import Observability
import Postgres

/// Compares a day of an app: what Apple signed, what was decided, what the wallets hold; and writes the report.
///
/// Page by page: of 100,000 purchases 500 are in memory. Broken off anywhere it goes on where it was, and made again it
/// says the same. Lives on the daily run's thread.
struct DailyRun {
    let sources: any Sources
    /// Younger purchases may still be on their way (ms).
    let decisionTime: Int64
    let logger: Logger

    /// What it found.
    struct Result: Equatable {
        /// Purchases compared.
        var purchases = 0
        /// Findings that are new.
        var opened = 0
    }

    /// Makes the run. Throws ``NotYet``, `RequestError`, and what the database throws.
    func run(_ plan: DayPlan, now: Int64, on connection: inout Connection) throws -> Result {
        let began = ContinuousClock.now
        let known = try evidenceKnown(plan, now, &connection)
        var place = try connection.transaction { try RunTable.begin(plan, now: now, in: &$0) }
        var result = Result()
        while true {
            let keys = try RunLineTable.page(
                plan, after: place, limit: Int64(PurchaseStatesRequested.mostKeys), on: &connection)
            guard let last = keys.last else { break }
            result.opened += try compare(keys, plan, known: known, now, &connection)
            result.purchases += keys.count
            place = last
        }
        let books = try allBooks(of: plan.app, now, &connection)
        let report = try connection.transaction { transaction in
            try DayTotals.read(plan, books: books, now: now, in: &transaction)
        }
        let (markdown, html) = (MarkdownPage.render(report), HTMLPage.render(report))
        let totals = String(decoding: JSONWriter.write(.object(report.summary)), as: UTF8.self)
        let ended = now + Int64(began.duration(to: .now) / .milliseconds(1))
        try connection.transaction {
            try RunTable.end(plan, totals: totals, markdown: markdown, html: html, now: ended, in: &$0)
        }
        logger.info(
            "a day was compared",
            [
                "app": .string(plan.app), "day": .string(plan.day), "purchases": .int(result.purchases),
                "findings.new": .int(result.opened),
            ])
        return result
    }

    /// Up to when all that was verified has been read here (ms since 1970): what was granted later may seem to be without
    /// evidence and is not judged. Of a day that is over all must have been read; one that is not is compared as far as
    /// it is known, or on a busy day nobody would ever see it.
    private func evidenceKnown(_ plan: DayPlan, _ now: Int64, _ connection: inout Connection) throws -> Int64 {
        let cursor = try connection.query("SELECT value FROM reconciliation.cursors WHERE name = 'evidence'").single()
            .int8("value")
        let settled = now - decisionTime
        let page = try sources.evidence(after: cursor, before: settled)
        let known: Int64
        if let oldest = page.entries.map(\.verifiedAt).min() {
            known = oldest
        } else if page.hasMore {
            throw NotYet()
        } else {
            known = settled
        }
        guard known >= plan.to || plan.to > settled else { throw NotYet() }
        return known
    }

    private func compare(
        _ keys: [PurchaseKey], _ plan: DayPlan, known horizon: Int64, _ now: Int64, _ connection: inout Connection
    ) throws -> Int {
        let states = try sources.allDetails(of: keys)
        return try connection.transaction { transaction in
            let known = try ComparedTable.read(keys, before: horizon, in: &transaction)
            let lines = keys.compactMap { key -> RunLineTable.Line? in
                guard let state = states[key], let record = known[key] else { return nil }
                let comparison = PurchaseComparison(
                    evidence: record.evidence, state: state, isGrantedAsVerified: record.isGrantedAsVerified)
                return RunLineTable.Line(
                    key: key, comparison: comparison,
                    differences: comparison.differences(refundDay: plan.from..<plan.to))
            }
            try RunLineTable.save(lines, of: plan, in: &transaction)
            let findings = lines.flatMap { line in line.differences.map { line.comparison.finding($0) } }
            if let last = keys.last { try RunTable.move(plan, to: last, in: &transaction) }
            return try FindingStore.open(findings, now: now, in: &transaction)
        }
    }

    /// All wallets of the app: what they hold and owe, and whom somebody should look at.
    private func allBooks(of app: String, _ now: Int64, _ connection: inout Connection) throws -> DayBooks {
        var books = DayBooks(app: AppID(app))
        var place: CustomerID?
        while true {
            let page = try sources.books(after: place, limit: BooksPageRequested.mostCustomers)
            books.add(page)
            let after = place
            _ = try connection.transaction {
                try BooksCheck.record(page, after: after?.rawValue, now: now, in: &$0)
            }
            guard page.hasMore, let last = page.last else { return books }
            place = last
        }
    }
}

/// What a run needs is not there yet; it is tried again soon.
struct NotYet: Error {}
