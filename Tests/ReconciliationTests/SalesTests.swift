import JSON
import Messages
import Observability
import Postgres
import TestSupport
import Testing

@testable import Reconciliation

/// Apple's sales reports against the purchases that were verified.
@Suite(.serialized, .timeLimit(.minutes(3))) struct SalesTests {
    /// 2026-05-28 begins in Cupertino (UTC−7).
    private static let midnight: Int64 = 1_779_951_600_000
    private static let day: Int64 = 86_400_000
    private static let tolerance = SalesTolerance(
        timeZone: "America/Los_Angeles", border: 300_000, units: 0,
        commissions: [.init(app: AppID("game"), storefront: "USA"): 15_000])

    private static func stage(_ name: String) async throws -> ReconciliationStage {
        let lane = try await LaneStage.make(
            suite: "recon_sales", name: name, queue: Topology.reconciliationCommands,
            migrations: ReconciliationProgram.migrations)
        return ReconciliationStage(lane: lane)
    }

    private static func line(
        _ product: String, _ storefront: String, _ sold: Int64, _ refunded: Int64 = 0, commission: Int64? = nil
    ) -> SalesImportRequested.Line {
        SalesImportRequested.Line(
            productID: ProductID(product), storefront: storefront, sold: sold, refunded: refunded,
            commission: commission)
    }

    private static func part(
        _ id: Int, _ lines: [SalesImportRequested.Line], part: Int64 = 1, of parts: Int64 = 1,
        end: String = "2026-05-28"
    ) -> SalesImportRequested {
        SalesImportRequested(
            reportID: "00000000-0000-4000-8000-00000000000\(id)", app: AppID("game"), begin: "2026-05-28", end: end,
            part: part, parts: parts, lines: lines, actor: "ops")
    }

    /// Hands parts in, each of them twice; returns what was answered each time.
    @discardableResult
    private static func handIn(
        _ parts: [SalesImportRequested], _ stage: ReconciliationStage
    ) throws -> [SalesImportAnswered] {
        let messages = try parts.map { try stage.lane.request($0) }
        try stage.lane.publish(messages + messages)
        var answers: [SalesImportAnswered] = []
        try stage.lane.run(handler: { RunCommands(logger: .silent) }) {
            answers += try stage.lane.answers().answers(SalesImportAnswered.self).values.joined()
            return answers.count == 2 * parts.count
        }
        return answers
    }

    private static func check(
        _ stage: ReconciliationStage, at now: Int64 = midnight + 2 * day, _ tolerance: SalesTolerance = tolerance
    ) throws -> [String] {
        var connection = try stage.open()
        _ = try SalesCheck(tolerance: tolerance).run(now: now, on: &connection)
        return try stage.texts(
            """
            SELECT subject || ' ' || state || ' ' || (evidence ->> 'soldByApple') || '/' || (evidence ->> 'sold')
                || ' ' || (evidence ->> 'refundedByApple') || '/' || (evidence ->> 'refunded') AS t
            FROM reconciliation.findings ORDER BY subject, id
            """)
    }

    /// Purchases of so many units each at a time after midnight (ms); those from 100 on are refunded at noon.
    private static func buy(_ purchases: [(Int, String, Int64)], _ stage: ReconciliationStage) throws {
        for (id, storefront, time) in purchases {
            let refund = id >= 100 ? String(midnight + day / 2) : "NULL"
            try stage.lane.database.execute(
                """
                INSERT INTO reconciliation.purchases (environment, transaction_id, app, original_transaction_id,
                    has_submitter, verified_at, product_id, product_type, ownership, quantity, purchase_date,
                    signed_date, revocation_date, revoked_share, storefront)
                VALUES ('Production', '\(id)', 'game', '\(id)', true, 1, 'coins60', 'Consumable', 'PURCHASED', 2,
                    \(midnight + time), 1, \(refund), \(id >= 100 ? 100_000 : 0), '\(storefront)')
                """)
        }
    }

    @Test
    func `units that Apple counted otherwise are a finding, until the purchase that was missing is known (C-119)`()
        async throws
    {
        let stage = try await Self.stage("differ")
        try await onThread {
            try Self.buy([(1, "USA", 3_600_000), (2, "USA", 7_200_000), (3, "DEU", 3_600_000)], stage)
            try Self.handIn([Self.part(1, [Self.line("coins60", "USA", 4), Self.line("coins60", "DEU", 3)])], stage)
            #expect(try Self.check(stage) == ["game/2026-05-28/2026-05-28/coins60/DEU open 3/2 0/0"])
            #expect(try Self.check(stage).count == 1, "one case for one cause")
            // Another product at Apple, and one that Apple knows nothing of.
            try Self.handIn([Self.part(2, [Self.line("gems", "USA", 1), Self.line("coins60", "DEU", 2)])], stage)
            let found = try Self.check(stage, at: Self.midnight + 3 * Self.day)
            #expect(
                found == [
                    "game/2026-05-28/2026-05-28/coins60/DEU resolved 3/2 0/0",
                    "game/2026-05-28/2026-05-28/coins60/USA open 0/4 0/0",
                    "game/2026-05-28/2026-05-28/gems/USA open 1/0 0/0",
                ], "the later report about the same days counts")
        }
    }

    @Test func `refunds count on the day they were given`() async throws {
        let stage = try await Self.stage("refunds")
        try await onThread {
            try Self.buy([(100, "USA", -40 * Self.day), (101, "USA", 3_600_000)], stage)
            try Self.handIn([Self.part(1, [Self.line("coins60", "USA", 2, 4)])], stage)
            #expect(try Self.check(stage) == [])
            try Self.handIn([Self.part(2, [Self.line("coins60", "USA", 2, 2)])], stage)
            #expect(try Self.check(stage) == ["game/2026-05-28/2026-05-28/coins60/USA open 2/2 2/4"])
        }
    }

    @Test func `what was bought at a border of the days may be counted on either side`() async throws {
        let stage = try await Self.stage("border")
        try await onThread {
            try Self.buy(
                [
                    (1, "USA", -300_000), (2, "USA", 299_999), (3, "USA", Self.day - 300_000),
                    (4, "USA", Self.day + 299_999),
                ],
                stage)
            for (id, sold) in [(1, 0), (2, 4), (3, 8)] as [(Int, Int64)] {
                try Self.handIn([Self.part(id, [Self.line("coins60", "USA", sold)])], stage)
                #expect(try Self.check(stage) == [], "\(sold) of 0 to 8")
            }
            try Self.handIn([Self.part(4, [Self.line("coins60", "USA", 9)])], stage)
            #expect(try Self.check(stage).first?.contains("9/0 to 8") == true)
            // A tolerance of one unit forgives it.
            var lenient = Self.tolerance
            lenient.units = 1
            #expect(
                try Self.check(stage, at: Self.midnight + 9 * Self.day, lenient).first?.contains("resolved") == true)
        }
    }

    @Test func `a report is compared once it is whole`() async throws {
        let stage = try await Self.stage("parts")
        try await onThread {
            try Self.buy([(1, "USA", 3_600_000)], stage)
            let first = try Self.handIn([Self.part(1, [Self.line("coins60", "USA", 1)], part: 1, of: 2)], stage)
            #expect(first.map(\.isComplete) == [false, false])
            #expect(try Self.check(stage) == [])
            let last = try Self.handIn([Self.part(1, [Self.line("coins60", "DEU", 5)], part: 2, of: 2)], stage)
            #expect(last.map(\.isComplete) == [true, true], "the last part, and the same again")
            #expect(try Self.check(stage).count == 2)
        }
    }

    @Test func `Apple keeping another share than agreed is a finding, where a share is agreed (C-116)`() async throws {
        let stage = try await Self.stage("commission")
        try await onThread {
            try Self.buy([(1, "USA", 3_600_000), (2, "DEU", 3_600_000)], stage)
            let lines = [
                Self.line("coins60", "USA", 2, commission: 30_000), Self.line("coins60", "DEU", 2, commission: 41_200),
            ]
            try Self.handIn([Self.part(1, lines)], stage)
            #expect(try Self.check(stage) == ["game/2026-05-28/2026-05-28/coins60/USA open 2/2 0/0"])
            try Self.handIn([Self.part(2, [Self.line("coins60", "USA", 2, commission: 15_900), lines[1]])], stage)
            #expect(try Self.check(stage).first?.contains("resolved") == true)
        }
    }

    @Test func `a time zone that nobody knows stops this check and no other`() async throws {
        let stage = try await Self.stage("zone")
        try await onThread {
            try Self.handIn([Self.part(1, [Self.line("coins60", "USA", 1)])], stage)
            var wrong = Self.tolerance
            wrong.timeZone = "Pacific/Cupertino"
            #expect(throws: SalesCheck.UnknownTimeZone.self) { _ = try Self.check(stage, wrong) }
        }
    }

    @Test(arguments: [
        ("none", 0), ("game/USA=15", 1), ("game/USA=15, a/b/CAN=30.5,", 2), ("game/USA=100", 1),
    ])
    func `agreed shares are read`(text: String, count: Int) {
        #expect(SalesTolerance.commissions(text)?.count == count)
    }

    @Test(arguments: [
        "15", "game=15", "game/US=15", "game/usa=15", "/USA=15", "game/USA=", "game/USA=1.2345", "game/USA=100.1",
        "game/USA=-1", "game/USA=15,game/USA=30", "game/USA=1=2",
    ])
    func `what is no share is refused`(text: String) { #expect(SalesTolerance.commissions(text) == nil) }
}
