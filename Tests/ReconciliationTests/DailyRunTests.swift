import JSON
import Messages
import Observability
import Pipeline
import Postgres
import Runtime
import Synchronization
import TestSupport
import Testing

@testable import Reconciliation

/// A day compared and reported, on a real database, with services that say what the test says.
@Suite(.timeLimit(.minutes(3))) struct DailyRunTests {
    /// 2026-05-28 12:00 UTC.
    static let noon: Int64 = 1_779_969_600_000
    static let hour: Int64 = 3_600_000
    /// The day after, when runs are made.
    static let now = noon + 24 * hour

    @Test func `a day's purchases are compared, differences are cases, again it says the same (A-121 A-122 A-123)`()
        async throws
    {
        try await Self.with("day") { world in
            // Two before the day or after it, of all others one differs in each way.
            try world.sell([-13, -12, -1, 0, 1, 11, 12])
            world.sources.script.withLock { script in
                script.outcomes[Self.key(3)] = Self.granted(Self.key(3), at: Self.noon) { $0.ledger[0].amount = 120 }
                script.outcomes[Self.key(4)] = Self.granted(Self.key(4), at: Self.noon) { $0.orderStatus = .created }
                script.outcomes[Self.key(5)] = nil
            }
            let plan = try Self.plan(&world)
            let result = try world.run.run(plan, now: Self.now, on: &world.connection)
            #expect(result == DailyRun.Result(purchases: 5, opened: 3))
            let found = [
                "amount_differs Production/3 open", "order_behind Production/4 open",
                "purchase_undecided Production/5 open",
            ]
            #expect(try world.findings() == found)
            let line = """
                SELECT concat_ws(' ', transaction_id, customer, product_id, order_number, order_status, grant_status,
                    refund_status, amounts, differences) AS line FROM reconciliation.run_lines ORDER BY transaction_id
                """
            let lines = try world.lines(line)
            #expect(lines.count == 5)
            #expect(
                lines[0]
                    == "2 00000001-0000-4000-8000-000000000000 p IAP1 COMPLETED GRANTED NONE 60 COINS ")
            #expect(lines[3] == "5 p UNKNOWN NONE purchase_undecided")
            let totals = try JSONReader.parseObject(
                Array(
                    try world.lines("SELECT totals::text AS line FROM reconciliation.runs").joined().utf8))
            #expect(totals["purchases"]?.intValue == 5 && totals["granted"]?.intValue == 4)
            #expect(totals["differences"]?.intValue == 3 && totals["critical"]?.intValue == 1)
            let before = try world.lines("SELECT markdown || html AS line FROM reconciliation.runs")
            #expect(
                before.joined().contains("80.0 % (4 of 5)") && before.joined().contains("Production/3"), "\(before)")
            let result1 = try world.run.run(plan, now: Self.now, on: &world.connection)
            #expect(result1.opened == 0)
            #expect(try world.lines("SELECT markdown || html AS line FROM reconciliation.runs") == before)
            #expect(try world.lines(line) == lines && world.findings() == found)
        }
    }

    @Test(arguments: [("UTC", 2), ("Asia/Shanghai", 1), ("America/Los_Angeles", 2), ("Nowhere/Else", 2)])
    func `a day is the day of the app's clock (A-121)`(zone: String, count: Int) async throws {
        try await Self.with("zone_\(zone.prefix(4))") { world in
            // Noon and 20 o'clock UTC: in Shanghai the second is the next day.
            try world.sell([0, 8])
            let plan = try Self.plan(&world, zone: zone)
            #expect(plan.timeZone == (zone == "Nowhere/Else" ? "UTC" : zone))
            let result2 = try world.run.run(plan, now: Self.now, on: &world.connection)
            #expect(result2.purchases == count)
        }
    }

    @Test(arguments: [
        ("Europe/Berlin", "2026-03-29", 23), ("Europe/Berlin", "2026-10-25", 25), ("UTC", "2026-03-29", 24),
    ])
    func `days are as long as clocks make them`(zone: String, day: String, hours: Int) async throws {
        try await Self.with("hours_\(zone.prefix(3))_\(hours)") { world in
            let clock = try DayPlan.clock(zone, on: &world.connection)
            let plan = try #require(try DayPlan.day(day, of: "game", zone: clock, on: &world.connection))
            #expect(plan.to - plan.from == Int64(hours) * Self.hour)
        }
    }

    @Test func `what was granted on Apple's word is in it; granted as verified without evidence is a case`()
        async throws
    {
        try await Self.with("told") { world in
            try world.database.execute(
                """
                SELECT reconciliation.make_month(\(Self.noon));
                INSERT INTO reconciliation.journal (id, occurred_at, type, version, app, environment, transaction_id,
                    correlation_id, stream_offset, body)
                VALUES (gen_random_uuid(), \(Self.noon), 'purchase.granted', 1, 'game', 'Production', '1', 'c', 0,
                        '{"isVerified":false}'),
                    (gen_random_uuid(), \(Self.noon), 'purchase.granted', 1, 'game', 'Production', '2', 'c', 1,
                        '{"isVerified":true}'),
                    (gen_random_uuid(), \(Self.noon), 'purchase.granted', 1, 'other', 'Production', '3', 'c', 2, '{}')
                """)
            world.sources.script.withLock { script in
                for id in 1...3 { script.outcomes[Self.key(id)] = Self.granted(Self.key(id), at: Self.noon) }
            }
            let plan = try Self.plan(&world)
            let result3 = try world.run.run(plan, now: Self.now, on: &world.connection)
            #expect(result3.purchases == 2)
            #expect(try world.findings() == ["evidence_missing Production/2 open"])
        }
    }

    @Test func `a refund told late is told of on its day (C-093)`() async throws {
        try await Self.with("late") { world in
            try world.sell([0])
            world.sources.script.withLock { script in
                script.outcomes[Self.key(1)] = Self.granted(Self.key(1), at: Self.noon) {
                    $0.signedDate = Self.noon + Self.hour
                    $0.refundedAt = Self.noon - 30 * Self.hour
                    $0.refundProcessedAt = Self.noon + Self.hour
                    $0.revokedShare = 100_000
                }
            }
            _ = try world.run.run(try Self.plan(&world), now: Self.now, on: &world.connection)
            #expect(try world.findings() == ["refund_late Production/1 open"])
            #expect(
                try world.lines("SELECT markdown AS line FROM reconciliation.runs").joined()
                    .contains("| Production/1 | 2026-05-27 06:00 | 2026-05-28 13:00 | 31 |"))
        }
    }

    @Test func `a run that is broken off goes on where it was (R28)`() async throws {
        try await Self.with("broken") { world in
            try world.sell(Array(repeating: 0, count: 1_200))
            world.sources.script.withLock { $0.answers = 2 }
            let plan = try Self.plan(&world)
            do {
                _ = try world.run.run(plan, now: Self.now, on: &world.connection)
                Issue.record("it was broken off")
            } catch is RequestError {}
            #expect(try world.lines("SELECT state AS line FROM reconciliation.runs") == ["running"])
            world.sources.script.withLock {
                $0.answers = nil
                $0.asked = []
            }
            let rest = try world.run.run(plan, now: Self.now + 1_000, on: &world.connection)
            #expect(rest.purchases == 200 && world.sources.script.withLock { $0.asked.count } == 200)
            #expect(
                try world.lines("SELECT totals ->> 'granted' AS line FROM reconciliation.runs WHERE state = 'done'")
                    == ["1200"])
        }
    }

    @Test func `evidence that was not read yet is waited for`() async throws {
        try await Self.with("early") { world in
            world.sources.script.withLock { $0.said = [(1, PurchaseTableTests.entry("9", signed: 1))] }
            let plan = try Self.plan(&world)
            #expect(throws: NotYet.self) {
                _ = try world.run.run(plan, now: Self.now, on: &world.connection)
            }
        }
    }

    @Test func `a busy day that is not over is compared as far as it is known, and nobody waits for it`() async throws {
        try await Self.with("busy") { world in
            let plan = try Self.plan(&world)
            let noon = plan.from + 12 * Self.hour
            // Verified a moment ago, and never yet read here; granted before and after that.
            world.sources.script.withLock { script in
                script.said = [(1, PurchaseTableTests.entry("9", signed: 1, verified: noon))]
                for id in 1...2 { script.outcomes[Self.key(id)] = Self.granted(Self.key(id), at: noon) }
            }
            for (id, time) in [(1, noon - 1), (2, noon)] {
                try world.database.execute(
                    """
                    SELECT reconciliation.make_month(\(time));
                    INSERT INTO reconciliation.journal (id, occurred_at, type, version, app, environment, transaction_id,
                        correlation_id, stream_offset, body)
                    VALUES (gen_random_uuid(), \(time), 'purchase.granted', 1, 'game', 'Production', '\(id)', 'c', \(id),
                        '{"isVerified":true}');
                    """)
            }
            let result = try world.run.run(plan, now: noon + 200_000, on: &world.connection)
            #expect(result.purchases == 2)
            #expect(try world.findings() == ["evidence_missing Production/1 open"])
        }
    }

    @Test func `of two copies one makes the runs, each once; what is asked for is made too (C8 A-121)`() async throws {
        try await Self.with("copies") { world in
            try world.sell([0, 1])
            try world.connection.transaction { transaction in
                for _ in 0..<2 {
                    let cause = MessageID("00000000-0000-4000-8000-00000000000a")
                    let id = try RunTable.request("2026-05-20", app: nil, cause: cause, now: 1, in: &transaction)
                    #expect(id == 1)
                }
            }
            let stop = StopSignal()
            let metrics = Metrics()
            let work = DailyPart.Work(
                run: world.run, settings: .init(delay: 60_000, reportDays: 400, lineDays: 62),
                zones: { ["game": "UTC", "quiet": "Asia/Shanghai"] }, instruments: DailyMetrics(metrics),
                now: { Self.now })
            let conninfo = Secret(world.database.conninfo(role: "purser_reconciliation"))
            let copies = (0..<2).map { _ in DailyPart.start(database: conninfo, work: work, stop: stop) }
            defer { stop.stop() }
            try eventually("all four runs are made") {
                try world.lines("SELECT app AS line FROM reconciliation.runs WHERE state = 'done'").count == 4
            }
            try eventually("the wish is fulfilled") {
                try world.lines("SELECT id::text AS line FROM reconciliation.run_requests WHERE done_at > 1") == ["1"]
            }
            stop.stop()
            for copy in copies { #expect(copy.shutDown(within: .seconds(30))) }
            #expect(DailyMetrics(metrics).runs.value == 4)
            #expect(
                try world.lines("SELECT app || ' ' || day AS line FROM reconciliation.runs ORDER BY 1") == [
                    "game 2026-05-20", "game 2026-05-28", "quiet 2026-05-20", "quiet 2026-05-28",
                ])
        }
    }

    @Test func `reports and lines go when their time is over`() async throws {
        try await Self.with("kept") { world in
            try world.sell([0])
            _ = try world.run.run(try Self.plan(&world), now: Self.now, on: &world.connection)
            try RunTable.keep(reports: 400, lines: 10, now: Self.now + 12 * 24 * Self.hour, on: &world.connection)
            #expect(try world.lines("SELECT app AS line FROM reconciliation.run_lines") == [])
            #expect(try world.lines("SELECT app AS line FROM reconciliation.runs") == ["game"])
            try RunTable.keep(reports: 10, lines: 10, now: Self.now + 12 * 24 * Self.hour, on: &world.connection)
            #expect(try world.lines("SELECT app AS line FROM reconciliation.runs") == [])
        }
    }
}
