import AppStoreSimulation
import Messages
import Postgres
import TestSupport
import Testing

@testable import Pipeline
@testable import Verification

/// Taking users out of what was handed in, on the real tables.
@Suite(.timeLimit(.minutes(2))) struct EraseUsersTests {
    static func request(_ user: String = "alice", former: [String] = [], id: MessageID? = nil) throws -> Incoming {
        let body = UserEraseRequested(
            app: World.game, userID: UserID(user), formerIDs: former.map { UserID($0) }, actor: "op", reason: "asked")
        let header = MessageHeader(
            id: id ?? MessageID(UUIDText.random()), type: .userEraseRequested, version: 1, occurredAt: World.now,
            correlationID: "correlation", replyTo: "control")
        return Incoming(header: header, body: try MessageCoding.encode(body), isRedelivered: false)
    }

    /// Runs a request and everything it asks for; returns how many messages that took.
    static func erase(
        _ request: Incoming, page: Int64 = EraseUsers.page, _ verification: VerificationDatabase
    ) throws -> Int {
        var connection = try verification.database.open(
            role: "purser_verification", parameters: Connection.plansByIndex)
        var handler = EraseUsers(settling: 0, page: page, now: { World.now })
        var (waiting, count) = ([request], 0)
        while !waiting.isEmpty {
            let batch = waiting
            waiting = try connection.transaction { transaction in
                let facts = try handler.handle(batch, in: &transaction).flatMap(\.facts)
                _ = try FactStore(schema: VerificationProgram.name).save(
                    facts, recalling: batch.map(\.header.id), retiring: [], in: &transaction)
                return facts.map { fact in
                    Incoming(
                        header: MessageHeader(
                            id: fact.id, type: fact.type, version: fact.version, occurredAt: 0,
                            correlationID: fact.correlationID), body: fact.body, isRedelivered: false)
                }
            }
            count += batch.count
        }
        return count
    }

    /// Every table that has `needle` in any of its texts.
    static func tablesNaming(_ needle: String, _ verification: VerificationDatabase) throws -> [String] {
        let tables = try verification.rows(
            """
            SELECT c.oid::regclass::text AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
            WHERE n.nspname = 'verification' AND c.relkind = 'r' ORDER BY 1
            """
        ).map { try $0.text("name") }
        return try tables.filter {
            try !verification.rows("SELECT FROM \($0) t WHERE t::text LIKE '%\(needle)%' LIMIT 1").isEmpty
        }
    }

    @Test func `evidence, receipts, refusals and facts forget who handed them in, and stay otherwise`() async throws {
        try await VerificationDatabase.with("erase") { verification in
            var session = try verification.open()
            let world = try World()
            let first = try world.sign("1001")
            let signed = [first, try world.sign("1002"), try world.sign("1003")]
            _ = try session.run([
                try submission(signed[0], by: "alice-canary"), try submission(signed[0], by: "bob"),
                try submission(signed[1], by: "bob"), try submission(signed[1], by: "alice-canary"),
                try submission(signed[2], by: "guest-canary"), try submission("forged.1", by: "alice-canary"),
                try ReceiptSubmissionTests.submission(try ReceiptSubmissionTests.receipt(["1"]), by: "alice-canary"),
            ])
            let facts = try verification.count("facts")
            #expect(
                try Self.tablesNaming("alice-canary", verification) == [
                    "verification.evidence", "verification.facts", "verification.quarantine", "verification.receipts",
                ])
            let messages = try Self.erase(
                try Self.request("alice-canary", former: ["guest-canary"]), page: 2, verification)
            #expect(messages == 1 + Int(facts + 1) / 2, "the request, then two facts a message")
            #expect(try Self.tablesNaming("canary", verification) == [])
            #expect(try verification.rebuilt() == signed, "what Apple signed is there, byte for byte")
            let bob = try verification.rows("SELECT FROM verification.evidence WHERE submitter = 'bob'")
            let told = try verification.rows("SELECT FROM verification.facts WHERE body::json->>'userID' = 'bob'")
            #expect(bob.count == 1 && told.count == 2)
            let row = try #require(try verification.rows("SELECT facts, evidence FROM verification.erasures").first)
            #expect(try row.int8("facts") == 4 && row.int8("evidence") == 4)
        }
    }

    @Test func `a user of another app with the same name is left alone`() async throws {
        try await VerificationDatabase.with("erase_apps") { verification in
            var session = try verification.open()
            let world = try World()
            _ = try session.run([
                try submission(
                    try world.sign("1") {
                        $0.bundleID = World.booksBundle; $0.environment = "Production"
                    },
                    app: World.books)
            ])
            _ = try Self.erase(try Self.request(), verification)
            #expect(try verification.rows("SELECT FROM verification.evidence WHERE submitter = 'alice'").count == 1)
        }
    }

    @Test func `what was handed in before an erasure and is verified after it has no user, a later login has`()
        async throws
    {
        try await VerificationDatabase.with("erase_race") { verification in
            var session = try verification.open()
            let world = try World()
            // The lane has looked before, and knows of nobody.
            _ = try session.run([try submission(try world.sign("1"), by: "bob")])
            _ = try Self.erase(try Self.request(), verification)
            session.handler = try VerificationDatabase.handler(erased: ErasedUsers(maximumAge: .zero))
            let old = try session.run([
                try submission(try world.sign("2")), try submission("forged", by: "alice"),
            ])
            let told = try MessageCoding.decode(PurchaseVerified.self, from: try #require(old[0].facts.first).body)
            #expect(told.userID == nil && told.submittedAt == World.now)
            #expect(try old[1].answer?.status == .refused, "whoever waits is still answered")
            #expect(try Self.tablesNaming("alice", verification) == [])
            var later = try submission(try world.sign("3"))
            var header = later.header
            header.occurredAt += 1
            later = Incoming(header: header, body: later.body, isRedelivered: false)
            let new = try session.run([later])
            let again = try MessageCoding.decode(PurchaseVerified.self, from: try #require(new[0].facts.first).body)
            #expect(again.userID == UserID("alice"))
        }
    }

    @Test func `a lane learns of an erasure by itself`() async throws {
        try await VerificationDatabase.with("erase_known") { verification in
            var session = try verification.open()
            session.handler = try VerificationDatabase.handler(erased: ErasedUsers(maximumAge: .milliseconds(1)))
            let world = try World()
            _ = try session.run([try submission(try world.sign("1"), by: "bob")])
            _ = try Self.erase(try Self.request(), verification)
            try eventually("the lane has heard of it") {
                let outcome = try session.run([try submission(try world.sign("2"))])[0]
                let told = try MessageCoding.decode(PurchaseVerified.self, from: outcome.facts.first?.body ?? [])
                return told.userID == nil
            }
        }
    }

    @Test func `nothing is looked through before every lane knows, and the name is kept no longer than that`()
        async throws
    {
        try await VerificationDatabase.with("erase_settling") { verification in
            var connection = try verification.database.open(role: "purser_verification")
            let request = try Self.request("alice-canary")
            var early = EraseUsers(now: { World.now })
            for _ in 1...2 {
                let outcome = try connection.transaction { try early.handle([request], in: &$0)[0] }
                guard case .retry(let delay, _, _, _, _) = outcome else {
                    Issue.record("not put off")
                    return
                }
                #expect(delay == .seconds30)
            }
            #expect(try verification.count("erasures") == 1)
            var late = EraseUsers(now: { World.now + EraseUsers.settling })
            let outcome = try connection.transaction { try late.handle([request], in: &$0)[0] }
            #expect(outcome.facts.map(\.type) == [.evidenceEraseRequested])
            let body = String(decoding: outcome.facts.first?.body ?? [], as: UTF8.self)
            #expect(!body.contains("canary"), "the message it goes on by names nobody")
        }
    }

    @Test func `nobody can change what was told but by taking a name out`() async throws {
        try await VerificationDatabase.with("erase_sealed") { verification in
            var session = try verification.open()
            _ = try session.run([
                try submission(try World().sign("1")),
                try ReceiptSubmissionTests.submission(try ReceiptSubmissionTests.receipt(["1"])),
                try submission("forged"),
            ])
            for sql in [
                "UPDATE verification.facts SET body = replace(body, 'alice', 'mallory')",
                "UPDATE verification.facts SET body = (body::jsonb - 'transaction')::text",
                "UPDATE verification.facts SET key = 'x'", "DELETE FROM verification.facts",
                "UPDATE verification.evidence SET submitter = 'mallory'",
                "UPDATE verification.receipts SET submitter = 'mallory'",
                "UPDATE verification.quarantine SET submitter = 'mallory'",
            ] {
                #expect(throws: PostgresError.self, "\(sql)") { try verification.database.execute(sql) }
            }
        }
    }
}
