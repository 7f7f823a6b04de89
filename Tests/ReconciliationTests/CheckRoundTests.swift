import Messages
import Observability
import Postgres
import Runtime
import Synchronization
import TestSupport
import Testing

@testable import Reconciliation

/// The checks on a real database, with services that say what the test says.
@Suite(.timeLimit(.minutes(3))) struct CheckRoundTests {
    private static let minute: Int64 = 60_000
    private static let day: Int64 = 86_400_000

    /// A database, scripted services, and rounds at any time.
    private struct World: ~Copyable {
        let database: TestDatabase
        let sources = ScriptedSources()
        let metrics = Metrics()
        var connection: Connection

        init(_ database: TestDatabase) throws {
            self.database = database
            try database.migrate(ReconciliationProgram.name, ReconciliationProgram.migrations)
            connection = try database.open(role: "purser_reconciliation")
        }

        mutating func round(at now: Int64) throws {
            let round = CheckRound(
                settings: .init(decisionTime: 2 * minute, waitingTime: day), sources: sources,
                instruments: CheckMetrics(metrics), logger: .silent)
            try round.run(now: now, on: &connection)
        }

        /// Findings, one line each.
        func findings() throws -> [String] {
            var connection = try database.open()
            return try connection.query(
                """
                SELECT kind || ' ' || subject || ' ' || state || ' ' || attempts || ' ' || severity AS line
                FROM reconciliation.findings ORDER BY id
                """
            ).map { try $0.text("line") }
        }

        func redriven() -> [String] { sources.script.withLock { $0.redriven.map(\.transactionID.rawValue) } }
    }

    private static func with(
        _ name: String, _ body: @escaping @Sendable (inout World) throws -> Void
    ) async throws {
        let database = try await TestDatabase.shared("checks_\(name)")
        try await onThread {
            var world = try World(database)
            try body(&world)
        }
    }

    private static func entry(_ id: Int, submitted: Bool = true, at time: Int64 = 1_000) -> EvidenceEntry {
        EvidenceEntry(
            app: AppID("game"), environment: .production, transactionID: TransactionID(String(id)),
            orderNumber: nil, hasSubmitter: submitted, verifiedAt: time)
    }

    private static func state(
        _ id: Int, _ outcome: PurchaseState.Outcome, _ reason: HeldReason? = nil
    ) -> (PurchaseKey, PurchaseState) {
        let key = entry(id).key
        return (key, PurchaseState(key: key, outcome: outcome, reason: reason))
    }

    @Test func `verified and never decided: said again with growing pauses until it is decided (A-120 B-112)`()
        async throws
    {
        try await Self.with("undecided") { world in
            world.sources.script.withLock { script in
                script.said = (1...5).map { (Int64($0), Self.entry($0)) }
                script.pageSize = 2
                script.outcomes = Dictionary(uniqueKeysWithValues: [Self.state(1, .granted), Self.state(2, .refunded)])
            }
            try world.round(at: 60_000)
            #expect(try world.findings() == [], "all may still be on their way")
            try world.round(at: 200_000)
            #expect(
                try world.findings() == [
                    "purchase_undecided Production/3 redriven 1 warning",
                    "purchase_undecided Production/4 redriven 1 warning",
                    "purchase_undecided Production/5 redriven 1 warning",
                ])
            #expect(world.redriven() == ["3", "4", "5"])
            world.sources.script.withLock {
                let decided = Self.state(4, .granted)
                $0.outcomes[decided.0] = decided.1
            }
            try world.round(at: 210_000)
            #expect(try world.findings()[1] == "purchase_undecided Production/4 resolved 1 warning")
            #expect(world.redriven() == ["3", "4", "5"], "the pause is not over")
            try world.round(at: 260_000)
            try world.round(at: 260_001)
            #expect(world.redriven() == ["3", "4", "5", "3", "5"])
            // A minute, two, four, eight: then a person should look.
            for time in [380_000, 620_000, 1_100_000] as [Int64] { try world.round(at: time) }
            #expect(try world.findings().first == "purchase_undecided Production/3 redriven 5 critical")
            #expect(CheckMetrics(world.metrics).compared.value == 5)
        }
    }

    @Test func `what the stream shows granted is not asked about`() async throws {
        try await Self.with("subtracted") { world in
            try world.database.execute(
                """
                SELECT reconciliation.make_month(1780000000000);
                INSERT INTO reconciliation.journal (id, occurred_at, type, version, environment, transaction_id,
                    correlation_id, stream_offset, body)
                VALUES (gen_random_uuid(), 1780000000000, 'purchase.granted', 1, 'Production', '1', 'c', 0, '{}'),
                    (gen_random_uuid(), 1780000000000, 'purchase.granted', 1, 'Sandbox', '2', 'c', 1, '{}')
                """)
            world.sources.script.withLock { $0.said = [(1, Self.entry(1)), (2, Self.entry(2))] }
            try world.round(at: 200_000)
            #expect(world.redriven() == ["2"], "the same number in another environment is another purchase")
            #expect(world.sources.script.withLock { $0.asked.contains(Self.entry(1).key) } == false)
        }
    }

    @Test func `held or nobody's for a day is a finding, and ends when it is delivered (C-109)`() async throws {
        try await Self.with("waiting") { world in
            world.sources.script.withLock { script in
                script.said = [(1, Self.entry(1)), (2, Self.entry(2, submitted: false)), (3, Self.entry(3))]
                script.outcomes = Dictionary(
                    uniqueKeysWithValues: [
                        Self.state(1, .held, .unknownProduct), Self.state(2, .unclaimed), Self.state(3, .beside),
                    ])
            }
            try world.round(at: 200_000)
            #expect(try world.findings() == [] && world.redriven() == [])
            try world.round(at: Self.day + 1_000)
            let opened = [
                "purchase_held Production/1 open 0 warning", "purchase_unclaimed Production/2 open 0 notice",
            ]
            #expect(try world.findings().sorted() == opened)
            try world.round(at: Self.day + 2_000)
            #expect(try world.findings().count == 2)
            world.sources.script.withLock {
                let decided = Self.state(1, .granted)
                $0.outcomes[decided.0] = decided.1
            }
            try world.round(at: 2 * Self.day)
            #expect(try world.findings().contains("purchase_held Production/1 resolved 0 warning"))
            #expect(try world.findings().contains("purchase_unclaimed Production/2 open 0 notice"))
        }
    }

    @Test func `a purchase that stays nobody's though it was said again is left to its buyer`() async throws {
        try await Self.with("left") { world in
            world.sources.script.withLock { script in
                script.said = [(1, Self.entry(1))]
                script.outcomes = Dictionary(uniqueKeysWithValues: [Self.state(1, .unclaimed)])
            }
            for time in [200_000, 260_000, 380_000, 620_000, 1_100_000] as [Int64] { try world.round(at: time) }
            #expect(world.redriven() == ["1", "1", "1"])
            #expect(try world.findings() == ["purchase_undecided Production/1 resolved 3 warning"])
            try world.round(at: Self.day + 1_000)
            #expect(try world.findings().last == "purchase_unclaimed Production/1 open 0 notice")
        }
    }

    @Test func `parked messages are one case a queue, brought up to date, ended when none is left`() async throws {
        try await Self.with("parked") { world in
            let queue = "granting.purchases.parked"
            world.sources.script.withLock { $0.parked = [queue: 2, "granting.wallet.parked": 0] }
            try world.round(at: 1_000)
            world.sources.script.withLock { $0.parked[queue] = 7 }
            try world.round(at: 2_000)
            #expect(try world.findings() == ["messages_parked \(queue) open 0 critical"])
            var connection = try world.database.open()
            let seen = try connection.query(
                "SELECT evidence ->> 'messages' AS n, opened_at, seen_at FROM reconciliation.findings"
            ).single()
            #expect(try seen.text("n") == "7" && seen.int8("opened_at") == 1_000 && seen.int8("seen_at") == 2_000)
            world.sources.script.withLock { $0.parked[queue] = 0 }
            try world.round(at: 3_000)
            world.sources.script.withLock { $0.parked[queue] = 1 }
            try world.round(at: 4_000)
            #expect(
                try world.findings() == [
                    "messages_parked \(queue) resolved 0 critical", "messages_parked \(queue) open 0 critical",
                ])
        }
    }

    @Test func `while nobody answers nothing is concluded, and nothing is passed over`() async throws {
        try await Self.with("silent") { world in
            world.sources.script.withLock { script in
                script.said = [(1, Self.entry(1))]
                script.isSilent = true
            }
            try world.round(at: 200_000)
            #expect(try world.findings() == [])
            #expect(CheckMetrics(world.metrics).failures("evidence").value == 1)
            world.sources.script.withLock { $0.isSilent = false }
            try world.round(at: 210_000)
            #expect(world.redriven() == ["1"])
        }
    }

    @Test func `a repair that was written down and never asked for is asked for after the pause (C1 C2)`() async throws
    {
        try await Self.with("unasked") { world in
            world.sources.script.withLock { script in
                script.said = [(1, Self.entry(1)), (2, Self.entry(2))]
                script.takesNothing = true
            }
            try world.round(at: 200_000)
            #expect(world.redriven() == [])
            world.sources.script.withLock { $0.takesNothing = false }
            try world.round(at: 259_999)
            #expect(world.redriven() == [])
            try world.round(at: 260_000)
            #expect(world.redriven() == ["1", "2"])
            #expect(try world.findings().first == "purchase_undecided Production/1 redriven 2 warning")
        }
    }

    @Test func `two rounds at once open one case and move the cursor once (C8)`() async throws {
        try await Self.with("twice") { world in
            world.sources.script.withLock { $0.said = (1...50).map { (Int64($0), Self.entry($0)) } }
            let (database, sources) = (world.database, world.sources)
            let threads = (0..<2).map { _ in
                NamedThread.start(name: "round") {
                    let metrics = CheckMetrics(Metrics())
                    let round = CheckRound(
                        settings: .init(decisionTime: 2 * Self.minute, waitingTime: Self.day), sources: sources,
                        instruments: metrics, logger: .silent)
                    guard var connection = try? database.open(role: "purser_reconciliation") else { return }
                    try? round.run(now: 200_000, on: &connection)
                }
            }
            for thread in threads { thread.join() }
            let findings = try world.findings()
            #expect(findings.count == 50 && Set(findings).count == 50)
            #expect(findings.allSatisfy { $0.contains(" redriven 1 ") })
            #expect(Set(world.redriven()).count == 50 && world.redriven().count == 50, "each asked for once")
        }
    }

    @Test func `an accepted finding stands for its cause until that is gone`() async throws {
        try await Self.with("accepted") { world in
            let queue = "granting.purchases.parked"
            world.sources.script.withLock { $0.parked = [queue: 2] }
            try world.round(at: 1_000)
            try world.database.execute("UPDATE reconciliation.findings SET state = 'accepted', ended_at = 1500")
            try world.round(at: 2_000)
            #expect(try world.findings() == ["messages_parked \(queue) accepted 0 critical"])
            world.sources.script.withLock { $0.parked = [queue: 0] }
            try world.round(at: 3_000)
            #expect(try world.findings() == ["messages_parked \(queue) resolved 0 critical"])
        }
    }
}
