import AMQP
import Messages
import Observability
import Pipeline
import Postgres
import TestSupport
import Testing

@testable import Verification

/// Verified purchases told of and said again.
@Suite(.serialized, .timeLimit(.minutes(5))) struct EvidenceCommandsTests {
    /// Purchases of these ids, handed in by alice with an order.
    private static func fill(_ verification: VerificationDatabase, _ ids: [String]) throws {
        var session = try verification.open()
        let world = try World()
        for id in ids {
            let body = PurchaseSubmitted(
                app: World.game, userID: UserID("alice"), orderNumber: OrderNumber("IAP\(id)"),
                signedTransaction: try world.sign(id))
            let header = MessageHeader(
                id: MessageID(UUIDText.random()), type: .purchaseSubmitted, version: 1, occurredAt: World.now,
                correlationID: "c")
            _ = try session.run([
                Incoming(header: header, body: try MessageCoding.encode(body), isRedelivered: false)
            ])
        }
    }

    private static func incoming(_ message: some Message) throws -> Incoming {
        let header = MessageHeader(
            id: MessageID(UUIDText.random()), type: message.messageType, version: 1, occurredAt: World.now,
            correlationID: "c", replyTo: "asker")
        return Incoming(header: header, body: try MessageCoding.encode(message), isRedelivered: false)
    }

    private static func run(
        _ handler: some Handler, _ message: some Message, on verification: VerificationDatabase
    ) throws -> Outcome {
        var connection = try verification.database.open(role: "purser_verification")
        var handler = handler
        return try connection.transaction { try handler.handle([try incoming(message)], in: &$0)[0] }
    }

    private static func said(_ outcome: Outcome) throws -> PurchaseVerified? {
        guard case .done(let facts, _) = outcome, let fact = facts.first else { return nil }
        return try MessageCoding.decode(PurchaseVerified.self, from: fact.body)
    }

    @Test func `what was verified is told page by page, without persons, nothing too young and nothing twice`()
        async throws
    {
        try await VerificationDatabase.with("pages") { verification in
            try Self.fill(verification, ["11", "12", "13", "14", "15"])
            func page(after: Int64, before: Int64 = .max, limit: Int64 = 2) throws -> EvidencePageAnswered {
                let question = EvidencePageRequested(after: after, before: before, limit: limit)
                guard case .done(_, let reply?) = try Self.run(AnswerEvidence(), question, on: verification) else {
                    throw RollBack()
                }
                #expect(!String(decoding: reply.body, as: UTF8.self).contains("alice"))
                return try MessageCoding.decode(EvidencePageAnswered.self, from: reply.body)
            }
            var ids: [String] = []
            var last: Int64 = 0
            while true {
                let some = try page(after: last)
                ids += some.entries.map(\.transactionID.rawValue)
                #expect(some.entries.allSatisfy { $0.hasSubmitter && $0.environment == .production })
                last = some.last
                guard some.hasMore else { break }
            }
            #expect(ids == ["11", "12", "13", "14", "15"])
            let time = try #require(
                try verification.rows("SELECT created_at FROM verification.facts WHERE key LIKE '%/13'").first
            ).timestampMilliseconds("created_at")
            let young = try page(after: 0, before: time, limit: 100)
            #expect(young.entries.allSatisfy { $0.verifiedAt < time } && !young.hasMore && young.entries.count <= 2)
            #expect(try page(after: young.last, limit: 100).entries.count == 5 - young.entries.count)
            #expect(try page(after: 0, limit: 1_000_000).entries.count == 5)
            guard case .done(_, let reply?) = try Self.run(AnswerEvidence(), ChainsRequested(), on: verification) else {
                throw RollBack()
            }
            _ = try MessageCoding.decode(ChainsAnswered.self, from: reply.body)
        }
    }

    @Test func `a purchase is said again for its submitter, with the order (A-120 B-112)`() async throws {
        try await VerificationDatabase.with("said_again") { verification in
            try Self.fill(verification, ["11"])
            let request = EvidenceRedriveRequested(
                environment: .production, transactionID: TransactionID("11"), actor: "reconciliation", reason: "r")
            let outcome = try Self.run(RedriveEvidence(logger: .silent), request, on: verification)
            let body = try #require(try Self.said(outcome))
            #expect(body.userID == UserID("alice") && body.orderNumber == OrderNumber("IAP11"))
            let first = try verification.rows("SELECT id, body FROM verification.facts").first
            #expect(try outcome.facts.first?.body == Array(first?.text("body").utf8 ?? "".utf8), "the same content")
            #expect(try outcome.facts.first.map { UUIDText.parse($0.id.rawValue) } != first?.uuid("id"))
            let record = try #require(try verification.rows("SELECT * FROM verification.redrives").first)
            #expect(try record.text("actor") == "reconciliation" && record.text("kind") == "redrive")
            #expect(try record.bool("is_known") && !record.bool("names_user"))
        }
    }

    @Test func `an erased submitter does not come back, and an operator may name a user (A-127)`()
        async throws
    {
        try await VerificationDatabase.with("regrant") { verification in
            try Self.fill(verification, ["11"])
            try verification.database.execute("UPDATE verification.evidence SET submitter = NULL")
            func regrant(_ id: String, for user: String?) throws -> Outcome {
                try Self.run(
                    RedriveEvidence(logger: .silent),
                    RegrantRequested(
                        requestID: "r1", environment: .production, transactionID: TransactionID(id),
                        userID: user.map { UserID($0) }, actor: "ops", reason: "ticket 5"), on: verification)
            }
            #expect(try Self.said(try regrant("11", for: nil))?.userID == nil)
            let named = try #require(try Self.said(try regrant("11", for: "bob")))
            #expect(named.userID == UserID("bob") && named.orderNumber == nil)
            guard case .done(let facts, let reply?) = try regrant("99", for: nil) else { throw RollBack() }
            let answer = try MessageCoding.decode(PurchaseAnswered.self, from: reply.body)
            #expect(facts.isEmpty && answer.status == .refused && answer.code == .transactionNotFound)
            let kept = try verification.rows("SELECT is_known, names_user, reason FROM verification.redrives")
            #expect(try kept.map { try $0.bool("is_known") } == [true, true, false])
            #expect(try kept.map { try $0.bool("names_user") } == [false, true, false])
        }
    }

    @Test(arguments: LaneFault.allCases)
    func `a request is on record once and its purchase said again under one id (C1 C2 C3 C4 C7 C8)`(
        fault: LaneFault
    ) async throws {
        let stage = try await LaneStage.make(
            suite: "evidence_commands", name: fault.rawValue, queue: Topology.verificationCommands,
            migrations: VerificationProgram.migrations)
        try await onThread {
            let verification = VerificationDatabase(database: stage.database)
            let ids = (11...22).map { String($0) }
            try Self.fill(verification, ids)
            let requests = try ids.map { id in
                try stage.request(
                    EvidenceRedriveRequested(
                        environment: .production, transactionID: TransactionID(id), actor: "a", reason: "r"))
            }
            try stage.survive(
                fault, requests, fact: .purchaseVerified, handler: { RedriveEvidence(logger: .silent) }
            ) { try verification.count("redrives") == 12 }
            #expect(try stage.leftovers() == [])
            #expect(try verification.count("facts") == 24)
            let told = try stage.facts().identifiers(of: .purchaseVerified)
            #expect(Set(told.keys) == Set(requests.map(\.id)) && told.values.allSatisfy { $0.count == 1 })
        }
    }
}
