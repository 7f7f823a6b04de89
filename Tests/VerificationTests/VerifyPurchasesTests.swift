import AppStore
import AppStoreSimulation
import Crypto
import Messages
import Observability
import Pipeline
import Testing
import Trust

@testable import Verification

/// What the handler answers, tells, keeps and sends on.
@Suite(.timeLimit(.minutes(5))) struct VerifyPurchasesTests {
    @Test func `a genuine purchase becomes a fact for whoever handed it in, and no answer yet`() async throws {
        try await VerificationDatabase.with("genuine") { verification in
            var session = try verification.open()
            let outcomes = try session.run([
                try submission(World().sign(), order: "IAP1"), try submission(World().sign("2"), by: nil),
            ])
            let fact = try #require(outcomes.first?.facts.first)
            let message = try MessageCoding.decode(PurchaseVerified.self, from: fact.body)
            #expect(fact.type == .purchaseVerified && fact.key == "Production/2000000000000001")
            #expect(message.app == World.game && message.userID == UserID("alice"))
            #expect(message.orderNumber == OrderNumber("IAP1"))
            #expect(message.transaction.transactionID == TransactionID("2000000000000001"))
            #expect(try outcomes[0].answer == nil)
            let other = try MessageCoding.decode(PurchaseVerified.self, from: outcomes[1].facts.first?.body ?? [])
            #expect(other.userID == nil && other.orderNumber == nil)
        }
    }

    @Test func `what Apple showed reconciliation is verified like a client's, for nobody and without an order`()
        async throws
    {
        try await VerificationDatabase.with("received") { verification in
            var session = try verification.open()
            func received(_ signed: String, _ body: String) throws -> Incoming {
                let header = MessageHeader(
                    id: MessageID(UUIDText.random()), type: .transactionReceived, version: 1, occurredAt: World.now,
                    correlationID: "correlation")
                let text = body.replacing("JWS", with: signed)
                return Incoming(header: header, body: Array(text.utf8), isRedelivered: false)
            }
            let outcomes = try session.run([
                // Who is named all the same is not heard.
                try received(
                    World().sign(),
                    #"{"app":"game","signedTransaction":"JWS","userID":"mallory","orderNumber":"IAP1"}"#),
                try received("no.signed.text", #"{"app":"game","signedTransaction":"JWS"}"#),
                try received("", #"{"app":"game"}"#),
            ])
            let fact = try #require(outcomes[0].facts.first)
            let message = try MessageCoding.decode(PurchaseVerified.self, from: fact.body)
            #expect(message.userID == nil && message.orderNumber == nil && message.expectation == nil)
            #expect(message.transaction.transactionID == TransactionID("2000000000000001"))
            #expect(outcomes[1].facts.isEmpty && outcomes[1].parkedReason == nil)
            #expect(outcomes[2].parkedReason == Incoming.unreadable)
        }
    }

    @Test func `a genuine purchase tells in how many days its signer's chain expires, a refused one does not`()
        async throws
    {
        try await VerificationDatabase.with("signer_expiry") { verification in
            let metrics = Metrics()
            var session = try verification.open(metrics: metrics)
            _ = try session.run([try submission("no.signed.text")])
            #expect(!metrics.render().contains("purser_verification_signer_expiry_days "))
            _ = try session.run([try submission(World().sign())])
            let days = (SimulatedAuthority.defaultValidity.notAfter - World.now / 1_000) / 86_400
            #expect(days == 4_779, "whole days here, so that the text is known")
            #expect(metrics.render().contains("\npurser_verification_signer_expiry_days 4779\n"))
        }
    }

    @Test func `every refusal is answered with its code, may not be finished, and is kept apart (A-080 A-081 A-082)`()
        async throws
    {
        try await VerificationDatabase.with("refusals") { verification in
            var session = try verification.open()
            let batch = try Refused.all.map { try submission($0.text(World())) }
            let outcomes = try session.run(batch)
            for (refused, outcome) in zip(Refused.all, outcomes) {
                let answer = try outcome.answer
                #expect(answer?.status == .refused && answer?.code == refused.code, "\(refused.testDescription)")
                #expect(answer?.mayFinish == false, "\(refused.testDescription)")
                #expect(answer?.securityEvent == refused.event, "\(refused.testDescription)")
                #expect(answer?.reason == refused.reason.rawValue, "\(refused.testDescription)")
                #expect(outcome.facts.isEmpty)
            }
            #expect(try verification.count("evidence") == 0)
            #expect(try verification.count("facts") == 0)
            #expect(try verification.count("quarantine") == Int64(Refused.all.count))
        }
    }

    @Test func `a future date is an outage of somebody's clock: told as pending, tried again without limit`()
        async throws
    {
        try await VerificationDatabase.with("future") { verification in
            var session = try verification.open()
            let early = try World().sign { $0.signedDate = World.now + 3_600_000 }
            let outcomes = try session.run([try submission(early), try submission(early, attempt: 12)])
            for (outcome, expected) in zip(outcomes, [Topology.RetryDelay.seconds5, .hour1]) {
                guard case .retry(let delay, let reason, let isOutage, _, _) = outcome else {
                    Issue.record("not retried: \(outcome)")
                    continue
                }
                #expect(delay == expected && reason == "signed_date_in_future" && isOutage)
                let answer = try outcome.answer
                #expect(answer?.status == .pending && answer?.code == .purchasePending)
                #expect(answer?.mayFinish == false)
            }
            #expect(try verification.count("evidence") == 0)
            #expect(try verification.count("quarantine") == 0)
        }
    }

    @Test func `genuine without a bundle id is parked for a person, its neighbours are done`() async throws {
        try await VerificationDatabase.with("no_bundle") { verification in
            var session = try verification.open()
            let outcomes = try session.run([
                try submission(World().sign("1") { $0.bundleID = nil }), try submission(World().sign("2")),
                Incoming(header: try submission("").header, body: Array("garbage".utf8), isRedelivered: false),
            ])
            #expect(outcomes[0].parkedReason == "verification.app_unidentified")
            #expect(outcomes[1].facts.count == 1)
            #expect(outcomes[2].parkedReason == Incoming.unreadable)
            #expect(try verification.count("evidence") == 1)
        }
    }

    @Test func `a redelivered message has the same fact id and is stored once (C3)`() async throws {
        try await VerificationDatabase.with("redelivered") { verification in
            let id = MessageID(UUIDText.random())
            let signed = try World().sign()
            var first = try verification.open()
            let before = try first.run([try submission(signed, id: id)])
            // By another process, which knows nothing of the first.
            var second = try verification.open()
            let after = try second.run([try submission(signed, id: id, isRedelivered: true)])
            #expect(before.flatMap(\.facts).map(\.id) == after.flatMap(\.facts).map(\.id))
            #expect(try verification.count("facts") == 1)
            // Another message about the same purchase is news of its own.
            let other = try second.run([try submission(signed)])
            #expect(other.flatMap(\.facts).map(\.id) != before.flatMap(\.facts).map(\.id))
            #expect(try verification.count("evidence") == 1)
        }
    }

    @Test func `texts that PostgreSQL cannot hold do not keep a genuine purchase from being verified (22021)`()
        async throws
    {
        try await VerificationDatabase.with("nul") { verification in
            var session = try verification.open()
            let outcomes = try session.run([
                try submission(World().sign("1"), order: "A\u{0}1"),
                try submission(World().sign("2"), by: "al\u{0}ice"),
                try submission("\u{0}\u{0}\u{301}", by: "b\u{0}b", order: "\u{0}"),
            ])
            let told = try outcomes.prefix(2).map {
                try MessageCoding.decode(PurchaseVerified.self, from: $0.facts.first?.body ?? [])
            }
            #expect(told[0].orderNumber == OrderNumber("A\u{FFFD}1"), "names no order of ours")
            #expect(told[0].userID == UserID("alice"))
            #expect(told[1].userID == nil, "nobody's: it waits unclaimed")
            #expect(try outcomes[2].answer?.status == .refused)
            #expect(try verification.count("evidence") == 2)
            #expect(try verification.count("quarantine") == 1)
        }
    }

    @Test func `an excerpt is bounded and holds whole characters only`() {
        let long = String(repeating: "é", count: 5_000)
        // An odd number of bytes before the cut tears a character apart.
        for text in [long, "x" + long] {
            let excerpt = Excerpt.of(text)
            #expect(excerpt.utf8.count <= Excerpt.limit + 2, "a torn character becomes a longer one")
        }
        #expect(Excerpt.of("a\u{0}\u{301}\u{0}b").unicodeScalars.contains("\u{0}") == false)
    }
}
