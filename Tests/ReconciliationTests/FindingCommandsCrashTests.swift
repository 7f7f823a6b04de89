import AMQP
import Messages
import Observability
import TestSupport
import Testing

@testable import Reconciliation

/// What operators decide about findings, stopped at every place a lane can die at.
@Suite(.serialized, .timeLimit(.minutes(5))) struct FindingCommandsCrashTests {
    private static func stage(_ name: String) async throws -> ReconciliationStage {
        let lane = try await LaneStage.make(
            suite: "recon_commands", name: name, queue: Topology.reconciliationCommands,
            migrations: ReconciliationProgram.migrations)
        let stage = ReconciliationStage(lane: lane)
        try await onThread { try fill(stage) }
        return stage
    }

    /// Findings 1…12 about purchases, 13 about a queue, 14 that has ended.
    private static func fill(_ stage: ReconciliationStage) throws {
        try stage.lane.database.execute(
            """
            INSERT INTO reconciliation.findings (kind, subject, severity, app, environment, transaction_id, evidence,
                opened_at, seen_at, next_at)
            SELECT 'purchase_held', 'Production/' || n, 'warning', 'game', 'Production', n::text, '{}', 1, 1, 1
            FROM generate_series(1, 12) AS n;
            INSERT INTO reconciliation.findings (kind, subject, severity, state, evidence, opened_at, seen_at, next_at,
                ended_at)
            VALUES ('messages_parked', 'granting.wallet.parked', 'critical', 'open', '{}', 1, 1, 1, NULL),
                ('messages_parked', 'intake.commands.parked', 'critical', 'resolved', '{}', 1, 1, 1, 2);
            """)
    }

    @Test(arguments: LaneFault.allCases)
    func `a word about a finding is written once, and told under one id (C1 C2 C3 C4 C7 C8)`(
        fault: LaneFault
    ) async throws {
        let stage = try await Self.stage(fault.rawValue)
        try await onThread {
            let again = try (1...12).map {
                try stage.lane.request(FindingRedriveRequested(finding: $0, actor: "ops", reason: "once more"))
            }
            try stage.lane.survive(
                fault, again, fact: .evidenceRedriveRequested,
                handler: { RunFindingCommands(logger: .silent) }
            ) { try stage.number("SELECT count(*) FROM reconciliation.finding_events") == 12 }
            #expect(try stage.lane.leftovers() == [])
            #expect(
                try stage.texts(
                    "SELECT DISTINCT state || ' ' || attempts AS t FROM reconciliation.findings WHERE id < 13")
                    == ["redriven 1"])
            let told = try stage.lane.facts().identifiers(of: .evidenceRedriveRequested)
            #expect(Set(told.keys) == Set(again.map(\.id)) && told.values.allSatisfy { $0.count == 1 })
            let answers = try stage.lane.answers().answers(FindingAnswered.self)
            #expect(answers.values.joined().allSatisfy { $0.outcome == .redriven })
        }
    }

    @Test func `what cannot be done is answered, and changes nothing`() async throws {
        let stage = try await Self.stage("answers")
        try await onThread {
            func accept(_ finding: Int64, _ reason: String = "known") throws -> OutgoingMessage {
                try stage.lane.request(FindingAcceptRequested(finding: finding, actor: "ops", reason: reason))
            }
            func redrive(_ finding: Int64) throws -> OutgoingMessage {
                try stage.lane.request(FindingRedriveRequested(finding: finding, actor: "ops", reason: "x"))
            }
            let asked = [
                try accept(99), try accept(14), try redrive(13), try accept(13), try accept(1), try redrive(1),
            ]
            let nameless = try accept(2, "")
            try stage.lane.publish(asked + [nameless])
            try stage.lane.run(handler: { RunFindingCommands(logger: .silent) }) {
                try stage.lane.depth(stage.lane.queue.parkedName) == 1
                    && stage.number("SELECT count(*) FROM reconciliation.finding_events") == 2
            }
            let answers = try stage.lane.answers().answers(FindingAnswered.self)
            #expect(
                asked.map { answers[$0.id]?.first?.outcome } == [
                    .unknown, .ended, .notRedrivable, .accepted, .accepted, .ended,
                ])
            #expect(try stage.lane.parkedReasons() == ["message.body_unreadable"])
            #expect(
                try stage.texts(
                    "SELECT event || ' ' || actor || ' ' || reason AS t FROM reconciliation.finding_events ORDER BY id")
                    == ["accepted ops known", "accepted ops known"])
        }
    }

    @Test func `what Apple has told is handed in at once when an operator wants it, and nothing else is said`()
        async throws
    {
        let stage = try await Self.stage("feeds")
        try await onThread {
            try stage.lane.database.execute(
                """
                INSERT INTO reconciliation.findings (kind, subject, severity, app, environment, transaction_id, evidence,
                    opened_at, seen_at, next_at, state, attempts)
                SELECT kind, 'Production/77', 'warning', 'game', 'Production', '77', '{}', 1, 1, 1, 'redriven', 4
                FROM unnest(ARRAY['notification_missed', 'refund_missed']) AS kind;
                INSERT INTO reconciliation.apple_feeds (kind, subject, app, environment, transaction_id, payload, found_at,
                    attempts, sent_at, next_at)
                SELECT kind, subject, app, environment, transaction_id, 'x', 1, 4, 1, 9000000000000
                FROM reconciliation.findings WHERE transaction_id = '77';
                """)
            let again = try [15, 16].map {
                try stage.lane.request(FindingRedriveRequested(finding: $0, actor: "ops", reason: "key mended"))
            }
            try stage.lane.publish(again + again)
            try stage.lane.run(handler: { RunFindingCommands(logger: .silent, now: { 5_000 }) }) {
                try stage.lane.depth(LaneStage.replies) == 4
            }
            let answers = try stage.lane.answers().answers(FindingAnswered.self)
            #expect(answers.count == 2 && answers.values.joined().allSatisfy { $0.outcome == .redriven })
            #expect(
                try stage.texts(
                    "SELECT kind || ' ' || next_at || ' ' || attempts AS t FROM reconciliation.apple_feeds ORDER BY kind"
                )
                    == ["notification_missed 5000 4", "refund_missed 5000 4"])
            #expect(
                try stage.texts(
                    """
                    SELECT e.event || ' ' || e.actor || ' ' || e.reason || ' ' || f.attempts AS t
                    FROM reconciliation.finding_events e JOIN reconciliation.findings f ON f.id = e.finding
                    """) == ["redriven ops key mended 5", "redriven ops key mended 5"])
            #expect(try stage.lane.facts().isEmpty, "Verification would say what it knew before")
        }
    }
}
