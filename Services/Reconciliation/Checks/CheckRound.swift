import AMQP
import Messages
import Observability
import Pipeline
import Postgres

/// One round of checks: what was verified against what was decided, what waits for too long, what was parked; and the
/// repair of what was lost between the services.
///
/// Lives on the checks' thread. Nothing is locked while others are asked. A repair is written down before it is asked
/// for, and asking twice changes nothing, so a round may end anywhere.
struct CheckRound {
    let settings: CheckSettings
    let sources: any Sources
    let instruments: CheckMetrics
    let logger: Logger

    /// How patient the checks are (ms).
    struct CheckSettings: Sendable {
        /// A verified purchase that is younger may still be on its way.
        let decisionTime: Int64
        /// Held or unclaimed for longer is a finding.
        let waitingTime: Int64
        /// When sales reports are said to differ; nil: they are not compared.
        var sales: SalesTolerance?
    }

    /// Pages of one round at most: a backlog of days is caught up with 3,000 purchases a second, and nobody else waits.
    private static let mostPages = 60
    /// Repairs under way at once: a fraction of what live traffic has in its queues in a second.
    private static let window: Int64 = 500
    /// Attempts after which a purchase that stays nobody's is left to its buyer.
    private static let attemptsForUnclaimed: Int64 = 3
    /// Attempts after which a person should look.
    private static let attemptsForPerson: Int64 = 3

    /// Runs all checks; one that cannot ask leaves its work to the next round. Throws what the database throws.
    func run(now: Int64, on connection: inout Connection) throws {
        let began = ContinuousClock.now
        try attempt("evidence") { try compareEvidence(now, &connection) }
        try attempt("repairs") { try repair(now, &connection) }
        try attempt("waiting") { try lookAtWaiting(now, &connection) }
        try attempt("books") {
            let counts = try BooksCheck(sources: sources).run(now, &connection)
            if counts.opened > 0 { logger.error("books do not agree", ["accounts": .int(counts.opened)]) }
            instruments.resolved.increment(by: counts.resolved)
        }
        try attempt("cases") {
            let counts = try CaseReview(sources: sources).run(now, &connection)
            instruments.resolved.increment(by: counts.resolved)
            instruments.redriven.increment(by: counts.redriven)
        }
        try attempt("parked") { try lookAtParked(now, &connection) }
        try attempt("certificates") {
            let ended = try CertificateCheck(sources: sources).run(now, &connection)
            instruments.resolved.increment(by: ended)
        }
        try attempt("consumption") {
            let ended = try ConsumptionCheck(sources: sources).run(now, &connection)
            instruments.resolved.increment(by: ended)
        }
        if let tolerance = settings.sales {
            try attempt("sales") {
                let ended = try SalesCheck(tolerance: tolerance).run(now: now, on: &connection)
                instruments.resolved.increment(by: ended)
            }
        }
        instruments.note(try FindingStore.counts(on: &connection))
        instruments.seconds.observe(began.duration(to: .now))
        instruments.lastRound.set(Double(now) / 1_000)
    }

    private func attempt(_ check: String, _ body: () throws -> Void) throws {
        do {
            try body()
        } catch let error as PostgresError {
            throw error
        } catch {
            instruments.failures(check).increment()
            let code = (error as? RequestError)?.code ?? (error as? AMQPError)?.code ?? "\(type(of: error))"
            logger.warning("a check could not be made", ["check": .string(check), "error": .string(code)])
        }
    }

    // MARK: - Verified against decided

    private func compareEvidence(_ now: Int64, _ connection: inout Connection) throws {
        for _ in 0..<Self.mostPages {
            let cursor = try connection.query("SELECT value FROM reconciliation.cursors WHERE name = 'evidence'")
                .single().int8("value")
            let page = try sources.evidence(after: cursor, before: now - settings.decisionTime)
            guard page.last > cursor else { return }
            let entries = Self.distinct(page.entries)
            let granted = try connection.transaction { try JournalStore.granted(entries.map(\.key), in: &$0) }
            let rest = entries.filter { !granted.contains($0.key) }
            let states = try sources.allStates(of: rest.map(\.key))
            var undecided: [NewFinding] = []
            var waiting: [EvidenceEntry] = []
            for entry in rest {
                guard let state = states[entry.key] else { continue }
                if Self.isLost(entry, state) {
                    undecided.append(.purchase(.purchaseUndecided, entry, state))
                } else if state.outcome == .held || state.outcome == .unclaimed {
                    waiting.append(entry)
                }
            }
            undecided += try missedRefunds(among: entries)
            let (lost, wait) = (undecided, waiting)
            let opened = try connection.transaction { transaction in
                let moved = try transaction.query(
                    """
                    UPDATE reconciliation.cursors SET value = $2, updated_at = clock_timestamp()
                    WHERE name = 'evidence' AND value = $1 RETURNING 1 AS moved
                    """, [.int8(cursor), .int8(page.last)])
                guard !moved.isEmpty else { return 0 }
                try PurchaseTable.record(page.entries, in: &transaction)
                try AppleAccountTable.record(page.entries.map(\.key), now: now, in: &transaction)
                try WaitingTable.insert(wait, next: now, in: &transaction)
                return try FindingStore.open(lost, now: now, in: &transaction)
            }
            if opened > 0 {
                logger.error("what was verified is missing in the books; it is said again", ["count": .int(opened)])
            }
            instruments.compared.increment(by: entries.count)
            if !page.hasMore { return }
        }
    }

    /// Whether the decision, or the submission, has been lost: a purchase that somebody handed in is theirs, held or
    /// answered; one that is nobody's has not been decided for them.
    private static func isLost(_ entry: EvidenceEntry, _ state: PurchaseState) -> Bool {
        state.outcome == .unknown || (state.outcome == .unclaimed && entry.hasSubmitter)
    }

    /// Refunds that were verified and that Granting does not know.
    private func missedRefunds(among entries: [EvidenceEntry]) throws -> [NewFinding] {
        let refunded = entries.filter { $0.statement.map { $0.revokedShare > 0 } ?? false }
        let states = try sources.allDetails(of: refunded.map(\.key))
        return refunded.compactMap { entry in
            guard let state = states[entry.key], let evidence = PurchaseComparison.Evidence(entry) else { return nil }
            let comparison = PurchaseComparison(evidence: evidence, state: state, isGrantedAsVerified: false)
            return comparison.differences().contains(.refundMissed) ? comparison.finding(.refundMissed) : nil
        }
    }

    private static func distinct(_ entries: [EvidenceEntry]) -> [EvidenceEntry] {
        var seen: Set<PurchaseKey> = []
        return entries.filter { seen.insert($0.key).inserted }
    }

    // MARK: - Repairs

    private func repair(_ now: Int64, _ connection: inout Connection) throws {
        let cases = try connection.transaction {
            try FindingStore.window(.purchaseUndecided, now: now, limit: Self.window, in: &$0)
        }
        guard !cases.isEmpty else { return }
        let states = try sources.allStates(of: cases.map(\.entry.key))
        var ended: [EvidenceEntry] = []
        var waiting: [EvidenceEntry] = []
        var due: [(FindingStore.Case, next: Int64, severity: FindingSeverity)] = []
        for one in cases {
            guard let state = states[one.entry.key] else { continue }
            let isLeft = state.outcome == .unclaimed && one.attempts >= Self.attemptsForUnclaimed
            if !Self.isLost(one.entry, state) || isLeft {
                ended.append(one.entry)
                if state.outcome == .held || state.outcome == .unclaimed { waiting.append(one.entry) }
            } else if one.nextAt <= now {
                let isHard = one.attempts >= Self.attemptsForPerson
                due.append((one, next: now + Self.pause(after: one.attempts), severity: isHard ? .critical : .warning))
            }
        }
        let (over, wait, tried) = (ended, waiting, due)
        let counted = try connection.transaction { transaction in
            try WaitingTable.insert(wait, next: now, in: &transaction)
            let resolved = try FindingStore.resolve(
                [.purchaseUndecided], subjects: over.map(\.key.description), reason: "decided", now: now,
                in: &transaction)
            return (resolved, try FindingStore.redrive(tried, now: now, in: &transaction))
        }
        instruments.resolved.increment(by: counted.0)
        for (one, _, _) in due where counted.1.contains(one.id) {
            try sources.redrive(one.entry.key, reason: "finding \(one.id)")
            instruments.redriven.increment()
        }
    }

    /// A minute, doubled with each attempt, an hour at most (ms): Granting decides within seconds unless it is away.
    private static func pause(after attempts: Int64) -> Int64 { min(60_000 << min(max(attempts, 0), 6), 3_600_000) }

    // MARK: - What waits

    private func lookAtWaiting(_ now: Int64, _ connection: inout Connection) throws {
        let entries = try connection.transaction {
            try WaitingTable.due(now, limit: Int64(PurchaseStatesRequested.mostKeys), in: &$0)
        }
        guard !entries.isEmpty else { return }
        let states = try sources.allStates(of: entries.map(\.key))
        let parts = WaitingParts(entries, states, now: now, limit: settings.waitingTime)
        // 24 looks until it is a finding, and as often afterwards.
        let next = now + max(1, settings.waitingTime / 24)
        let resolved = try connection.transaction { transaction in
            try WaitingTable.remove(parts.over + parts.lost, in: &transaction)
            try WaitingTable.postpone(parts.waiting, to: next, in: &transaction)
            _ = try FindingStore.open(parts.findings, now: now, in: &transaction)
            return try FindingStore.resolve(
                [.purchaseHeld, .purchaseUnclaimed], subjects: parts.over.map(\.key.description), reason: "decided",
                now: now, in: &transaction)
        }
        instruments.resolved.increment(by: resolved)
    }

    // MARK: - What was parked

    private func lookAtParked(_ now: Int64, _ connection: inout Connection) throws {
        let counts = try sources.parked()
        let resolved = try connection.transaction { transaction in
            let findings = counts.filter { $0.value > 0 }.sorted { $0.key < $1.key }
                .map { NewFinding.parked($0.value, in: $0.key) }
            _ = try FindingStore.open(findings, now: now, in: &transaction)
            return try FindingStore.resolve(
                [.messagesParked], subjects: counts.filter { $0.value == 0 }.map(\.key), reason: "none is parked now",
                now: now, in: &transaction)
        }
        instruments.resolved.increment(by: resolved)
    }
}
