import Messages
import Postgres
import Synchronization
import TestSupport
import Testing

@testable import Reconciliation

/// Ends that come by themselves: of certificates, and of the time that Apple gives for answers.
@Suite(.timeLimit(.minutes(3))) struct DeadlineCheckTests {
    private static let day: Int64 = 86_400_000
    private static let now: Int64 = 1_780_000_000_000

    private static func chain(_ name: String, seen: Int64, ends: Int64?) -> SignerChainState {
        SignerChainState(
            chain: name, subject: "CN=\(name)", serialNumber: "01", firstSeenAt: now + seen * day,
            expiresAt: ends.map { now + $0 * day })
    }

    /// Kinds and subjects of what is found.
    private static func found(_ chains: [SignerChainState]) -> [String] {
        CertificateCheck.judge(chains, now: now).findings.map { "\($0.kind.rawValue) \($0.subject)" }
    }

    @Test func `certificates that end within two weeks are a finding, unless later ones have been seen (C-109)`() {
        #expect(Self.found([Self.chain("a", seen: -300, ends: 14)]) == [])
        #expect(Self.found([Self.chain("a", seen: -300, ends: 13)]) == ["certificate_expiring a"])
        #expect(Self.found([Self.chain("a", seen: -300, ends: -1)]) == ["certificate_expiring a"])
        #expect(Self.found([Self.chain("a", seen: -300, ends: 13), Self.chain("b", seen: -100, ends: 700)]) == [])
        #expect(Self.found([Self.chain("a", seen: -300, ends: nil)]) == [], "nobody knows when it ends")
        #expect(Self.found([]) == [])
    }

    @Test func `certificates first seen this week are told, but not those that a deployment begins with (C-109)`() {
        let old = Self.chain("a", seen: -300, ends: 300)
        #expect(Self.found([old, Self.chain("b", seen: -6, ends: 700)]) == ["certificate_new b"])
        #expect(Self.found([old, Self.chain("b", seen: -7, ends: 700)]) == [])
        let beginning = [Self.chain("a", seen: -3, ends: 300), Self.chain("b", seen: -2, ends: 700)]
        #expect(Self.found(beginning) == [])
    }

    private static func lines(_ database: TestDatabase) throws -> [String] {
        var connection = try database.open()
        return try connection.query(
            "SELECT kind || ' ' || subject || ' ' || state AS line FROM reconciliation.findings ORDER BY id"
        ).map { try $0.text("line") }
    }

    @Test func `a case about certificates ends when Apple signs with others, or when they are familiar (C-109)`()
        async throws
    {
        let database = try await TestDatabase.shared("checks_certificates")
        try await onThread {
            try database.migrate(ReconciliationProgram.name, ReconciliationProgram.migrations)
            var connection = try database.open(role: "purser_reconciliation")
            let sources = ScriptedSources()
            let check = CertificateCheck(sources: sources)
            sources.script.withLock { $0.chains = [Self.chain("a", seen: -300, ends: 10)] }
            #expect(try check.run(Self.now, &connection) == 0)
            #expect(try check.run(Self.now, &connection) == 0)
            #expect(try Self.lines(database) == ["certificate_expiring a open"], "one case")
            sources.script.withLock { $0.chains.append(Self.chain("b", seen: 0, ends: 700)) }
            #expect(try check.run(Self.now, &connection) == 1)
            #expect(try Self.lines(database) == ["certificate_expiring a resolved", "certificate_new b open"])
            #expect(try check.run(Self.now + 7 * Self.day, &connection) == 1)
            #expect(try Self.lines(database) == ["certificate_expiring a resolved", "certificate_new b resolved"])
        }
    }

    private static func request(_ number: Int, ends: Int64, isOver: Bool = false) -> ConsumptionDeadline {
        let uuid = "550e8400-e29b-41d4-a716-44665544000\(number)"
        return ConsumptionDeadline(
            app: AppID("game"), key: NotificationKey(environment: .production, notificationUUID: uuid),
            transactionID: TransactionID("\(number)"), deadline: now + ends * 3_600_000, reason: "no_key",
            isOver: isOver)
    }

    @Test func `a consumption request near Apple's deadline is a case until it is answered; one in vain stays (A-117)`()
        async throws
    {
        let database = try await TestDatabase.shared("checks_consumption")
        try await onThread {
            try database.migrate(ReconciliationProgram.name, ReconciliationProgram.migrations)
            var connection = try database.open(role: "purser_reconciliation")
            let sources = ScriptedSources()
            let check = ConsumptionCheck(sources: sources)
            sources.script.withLock { $0.deadlines = [Self.request(1, ends: 5), Self.request(2, ends: 7)] }
            #expect(try check.run(Self.now, &connection) == 0)
            let first = "consumption_deadline \(Self.request(1, ends: 5).key)"
            let second = "consumption_deadline \(Self.request(2, ends: 7).key)"
            #expect(try Self.lines(database) == ["\(first) open"], "of the other there is more than half of the time")
            sources.script.withLock {
                $0.deadlines = [Self.request(1, ends: 5, isOver: true), Self.request(2, ends: 7)]
            }
            #expect(try check.run(Self.now + 2 * 3_600_000, &connection) == 0)
            #expect(try Self.lines(database) == ["\(first) open", "\(second) open"])
            var owner = try database.open()
            let seen = try owner.query(
                "SELECT evidence, transaction_id FROM reconciliation.findings ORDER BY id LIMIT 1"
            ).single()
            #expect(try seen.json("evidence").contains(#""isOver": true"#) && seen.text("transaction_id") == "1")
            sources.script.withLock { _ = $0.deadlines.removeLast() }
            #expect(try check.run(Self.now + 2 * 3_600_000, &connection) == 1)
            #expect(try Self.lines(database) == ["\(first) open", "\(second) resolved"])
        }
    }
}
