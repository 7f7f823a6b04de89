import Messages
import Observability
import Pipeline
import Postgres
import Synchronization
import TestSupport
import Testing

@testable import Granting

/// What is neither a grant nor a movement of money comes back from the facts too; and a restoration may die anywhere.
@Suite struct RestoredStatesTests {
    @Test func `consent, frozen lots, held and unclaimed purchases and early refunds come back as they were (R24)`()
        async throws
    {
        try await GrantingDatabase.with("restore_states") { granting in
            let copy = GrantingDatabase(database: try granting.database.copy())
            defer { try? copy.database.drop() }
            try Self.live(on: granting)
            let report = try RestorationTests.restore(try RestorationTests.facts(of: granting), on: copy, inPartsOf: 3)
            #expect(report.exitCode == 0, "\(report.lines.joined(separator: "\n"))")
            for table in RestorationTests.tables {
                #expect(try RestorationTests.rows(table, copy) == RestorationTests.rows(table, granting), "\(table)")
            }
            #expect(try copy.rows("SELECT FROM granting.lots WHERE is_frozen").count == 1)
            #expect(try copy.rows("SELECT FROM granting.transactions WHERE submitter IS NOT NULL").count == 1)
            #expect(try copy.rows("SELECT FROM granting.consents").count == 3)
            // A refund that came first still nets the purchase; what is nobody's is whoever claims it.
            var session = try copy.open()
            let early = try session.run(GrantPurchases(), [verified(transaction("early"), by: "alice")])
            #expect(try early[0].answer(PurchaseAnswered.self)?.code == .transactionAlreadyRevoked)
            let claimed = try session.run(GrantPurchases(), [verified(transaction("open", signed: 5), by: "bob")])
            #expect(try claimed[0].answer(PurchaseAnswered.self)?.status == .granted)
            #expect(try copy.imbalances() == [])
        }
    }

    @Test(arguments: RestorePoint.allCases)
    func `a restoration that dies at any of its transactions, again and again, ends the same (R24)`(
        point: RestorePoint
    ) async throws {
        try await GrantingDatabase.with("restore_dies_\(point)", nil) { granting in
            let copy = GrantingDatabase(database: try granting.database.copy())
            defer { try? copy.database.drop() }
            try RestorationTests.importCatalog(on: granting)
            _ = try StoredHistoryTests.replay(RandomHistory(seed: 31, length: 160).steps, 31, on: granting)
            let facts = try RestorationTests.facts(of: granting)
            let login = Secret(copy.database.conninfo(role: "purser_granting"))
            var deaths = 0
            var report: RestoreReport?
            while report == nil {
                let crash = DiesAt(point, number: deaths + 1)
                do throws(SimulatedDeath) {
                    report = try Self.restore(facts, login, crash)
                } catch {
                    deaths += 1
                    try #require(deaths < 200, "it gets no further")
                }
            }
            #expect(deaths > 3)
            #expect(report?.exitCode == 0, "\(report?.lines.joined(separator: "\n") ?? "")")
            for table in RestorationTests.tables {
                #expect(try RestorationTests.rows(table, copy) == RestorationTests.rows(table, granting), "\(table)")
            }
            #expect(try copy.imbalances() == [])
        }
    }

    // MARK: - Doing it

    /// Everything that has no grant, and consent twice over.
    private static func live(on granting: GrantingDatabase) throws {
        var session = try granting.open()
        func consent(_ isGiven: Bool, _ user: String, _ at: Int64) throws -> Incoming {
            try ConsentTests.message(isGiven, by: user, at: at, terms: isGiven ? "2026-11-01" : nil)
        }
        _ = try session.run(
            DecideWallet(), [consent(true, "alice", 1), consent(false, "alice", 2), consent(true, "bob", 3)])
        // Nobody's, by a notification that only tells.
        _ = try session.run(ApplyNotifications(), [notified(.refundDeclined, transaction("open"))])
        // Refunded before anybody handed it in.
        let early = transaction("early", signed: 9, revoked: 100_000)
        _ = try session.run(ApplyNotifications(), [notified(.refund, early)])
        // Held for whoever handed it in.
        _ = try session.run(
            GrantPurchases(), [verified(transaction("sandbox", environment: .sandbox), by: "carol")])
        // Held for its owner.
        _ = try session.run(GrantPurchases(), [verified(transaction("odd", ProductID("no.such.product")), by: "bob")])
        // Granted to the first caller; then a statement of Apple names another's token.
        let token = UUIDText.random()
        _ = try session.run(
            DecideWallet(), [message(TokenRequested(app: Shop.app, userID: UserID("bob"), appAccountToken: token))])
        _ = try session.run(GrantPurchases(), [verified(transaction("frozen"), by: "alice")])
        _ = try session.run(DecideWallet(), [spending(20, id: "s1", by: "alice")])
        _ = try session.run(GrantPurchases(), [verified(transaction("frozen", token: token, signed: 4), by: nil)])
        _ = try session.run(GrantPurchases(), [verified(transaction("later"), by: "alice")])
        _ = try session.run(DecideWallet(), [spending(30, id: "s2", by: "alice")])
    }

    private static func restore(
        _ facts: [StreamedFact], _ login: Secret, _ crash: DiesAt
    ) throws(SimulatedDeath) -> RestoreReport {
        do {
            var restoration = try Restoration.begin(login, batchLimit: 7) { try crash.reached($0) }
            for start in stride(from: 0, to: facts.count, by: 7) {
                try restoration.take(Array(facts[start..<min(start + 7, facts.count)]), unreadable: 0)
            }
            try restoration.finish()
            return restoration.report
        } catch let death as SimulatedDeath {
            throw death
        } catch {
            Issue.record("\(error)")
            throw SimulatedDeath()
        }
    }
}

/// As if the process had been killed.
private struct SimulatedDeath: Error {}

/// Ends a restoration when it comes to a place for the `number`th time.
private final class DiesAt: Sendable {
    private let point: RestorePoint
    private let number: Int
    private let count = Mutex(0)

    init(_ point: RestorePoint, number: Int) {
        self.point = point
        self.number = number
    }

    func reached(_ point: RestorePoint) throws {
        guard point == self.point else { return }
        let isIt = count.withLock { count in
            count += 1
            return count == number
        }
        if isIt { throw SimulatedDeath() }
    }
}
