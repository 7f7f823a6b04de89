import AppStoreSimulation
import Messages
import Pipeline
import Postgres
import Runtime
import TestSupport
import Testing

@testable import Verification

/// What is kept, on real PostgreSQL.
@Suite(.timeLimit(.minutes(5))) struct EvidenceTests {
    @Test func `every distinct statement is kept once, and its exact JWS can be rebuilt`() async throws {
        try await VerificationDatabase.with("once") { verification in
            var session = try verification.open()
            let world = try World()
            let first = try world.sign("1")
            let refunded = try world.sign("1") {
                $0.signedDate = World.now
                $0.revocationDate = World.now
            }
            let sandbox = try world.sign("2") { $0.environment = "Sandbox" }
            _ = try session.run([try submission(first), try submission(first), try submission(refunded)])
            _ = try session.run([try submission(first), try submission(sandbox), try submission(refunded)])
            #expect(try verification.rebuilt() == [first, refunded, sandbox])
        }
    }

    @Test func `a header is kept once for a hundred transactions`() async throws {
        try await VerificationDatabase.with("header") { verification in
            var session = try verification.open()
            let signed = try (1...100).map { try World().sign(String(1_000 + $0)) }
            for part in stride(from: 0, to: 100, by: 10) {
                _ = try session.run(try signed[part..<part + 10].map { try submission($0) })
            }
            #expect(try verification.count("headers") == 1)
            #expect(try verification.rebuilt() == signed)
        }
    }

    @Test func `a header whose first transaction was rolled back is stored by the next`() async throws {
        try await VerificationDatabase.with("rolled_back") { verification in
            var session = try verification.open()
            let signed = try (1...3).map { try World().sign(String($0)) }
            #expect(throws: RollBack.self) {
                _ = try session.run([try submission(signed[0])]) { throw RollBack() }
            }
            #expect(try verification.count("headers") == 0)
            _ = try session.run([try submission(signed[1])])
            _ = try session.run([try submission(signed[2])])
            #expect(try verification.count("headers") == 1)
            #expect(try verification.rebuilt() == Array(signed[1...]))
        }
    }

    @Test(arguments: [true, false])
    func `two lanes that meet a header at once agree on its row, whether the first commits or not`(
        firstCommits: Bool
    ) async throws {
        try await VerificationDatabase.with("race_\(firstCommits)") { verification in
            let signed = try (1...4).map { try World().sign(String($0)) }
            let second = try signed[1...2].map { try submission($0) }
            var first = try verification.open()
            var thread: NamedThread?
            do {
                _ = try first.run([try submission(signed[0])]) {
                    // The second lane inserts the same header and waits for the first's end.
                    thread = NamedThread.start(name: "second lane") {
                        guard var session = try? verification.open() else { return }
                        for incoming in second { _ = try? session.run([incoming]) }
                    }
                    try eventually("the second lane waits") { try !verification.rows(Self.waiting).isEmpty }
                    if !firstCommits { throw RollBack() }
                }
            } catch is RollBack {}
            #expect(thread?.join(for: .seconds(60)) == true)
            _ = try first.run([try submission(signed[3])])
            #expect(try verification.count("headers") == 1)
            #expect(try verification.rebuilt() == (firstCommits ? signed : Array(signed[1...])))
        }
    }

    private static let waiting = """
        SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
        """

    @Test func `the malleable twin of a statement adds nothing (S06)`() async throws {
        try await VerificationDatabase.with("twin") { verification in
            var session = try verification.open()
            let signed = try World().sign()
            let twin = String(
                decoding: try #require(TransactionSigner.malleableTwin(of: Array(signed.utf8))), as: UTF8.self)
            #expect(twin != signed)
            _ = try session.run([try submission(signed)])
            let outcomes = try session.run([try submission(twin, by: "mallory")])
            #expect(outcomes.first?.facts.first?.key == "Production/2000000000000001")
            #expect(try verification.rebuilt() == [signed])
        }
    }

    @Test func `of several who hand in one statement the first is remembered`() async throws {
        try await VerificationDatabase.with("submitters") { verification in
            var session = try verification.open()
            let signed = try World().sign("1")
            _ = try session.run([try submission(signed, by: "alice", order: "A")])
            _ = try session.run([try submission(signed, by: "bob", order: "B")])
            // Three more statements in one batch, mixed, so that sorting has to move them.
            let others = try ["4", "3", "2"].map { try World().sign($0) }
            let users = ["zoe"] + (1...20).map { "user\($0)" }
            let batch = try users.flatMap { user in
                try others.map { try submission($0, by: user, order: user) }
            }
            _ = try session.run(batch)
            let rows = try verification.rows(
                "SELECT submitter, order_number FROM verification.evidence ORDER BY transaction_id")
            #expect(try rows.map { try $0.text("submitter") } == ["alice", "zoe", "zoe", "zoe"])
            #expect(try rows.map { try $0.text("order_number") } == ["A", "zoe", "zoe", "zoe"])
            // Everybody's submission goes on to Granting, which knows whose it is.
            #expect(try verification.count("facts") == 65)
        }
    }

    @Test func `a forgery never takes the place of the genuine statement`() async throws {
        try await VerificationDatabase.with("forgery") { verification in
            var session = try verification.open()
            let genuine = try World().sign()
            let forged = String(
                decoding: try TransactionSigner(try .generate()).sign(World.transaction()), as: UTF8.self)
            let outcomes = try session.run([try submission(forged, by: "mallory"), try submission(genuine)])
            #expect(try outcomes[0].answer?.securityEvent == .forgedEvidence)
            #expect(outcomes[1].facts.count == 1)
            #expect(try verification.rebuilt() == [genuine])
        }
    }
}
