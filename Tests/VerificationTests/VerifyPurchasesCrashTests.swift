import AMQP
import Messages
import Pipeline
import TestSupport
import Testing

@testable import Verification

/// Every place Verification's lane can die at, on real parts.
@Suite(.serialized, .timeLimit(.minutes(5))) struct VerifyPurchasesCrashTests {
    private static func stage(_ name: String) async throws -> LaneStage {
        try await LaneStage.make(
            suite: "verify_crash", name: name, queue: Topology.verificationPurchases,
            migrations: VerificationProgram.migrations)
    }

    private static func rows(_ stage: LaneStage, _ table: String) throws -> Int64 {
        try VerificationDatabase(database: stage.database).count(table)
    }

    /// Twelve purchases, each handed in by two messages; every third message is a forgery.
    private struct Story {
        static let purchases = 12
        var signed: [String] = []
        var genuine: [OutgoingMessage] = []
        var forged: [OutgoingMessage] = []
        var all: [OutgoingMessage] = []

        init(_ stage: LaneStage) throws {
            let world = try World()
            for number in 1...Self.purchases {
                let text = try world.sign(String(1_000 + number))
                signed.append(text)
                let submissions = try ["alice", "bob"].map { user in
                    try stage.request(
                        PurchaseSubmitted(
                            app: World.game, userID: UserID(user), orderNumber: nil, signedTransaction: text))
                }
                let forgery = try stage.request(
                    PurchaseSubmitted(
                        app: World.game, userID: UserID("mallory"), orderNumber: nil,
                        signedTransaction: "forged.\(number)"))
                genuine += submissions
                forged.append(forgery)
                all += submissions + [forgery]
            }
        }
    }

    @Test(arguments: LaneFault.allCases)
    func `evidence is kept once and every verdict is told under one id (C1 C2 C3 C4 C7 C8 C20)`(
        fault: LaneFault
    ) async throws {
        let stage = try await Self.stage(fault.rawValue)
        try await onThread {
            let story = try Story(stage)
            try stage.survive(
                fault, story.all, fact: .purchaseVerified, handler: { try VerificationDatabase.handler() }
            ) {
                try Self.rows(stage, "facts") == Int64(story.genuine.count)
                    && Self.rows(stage, "quarantine") == Int64(story.forged.count)
            }
            #expect(try stage.leftovers() == [])
            let verification = VerificationDatabase(database: stage.database)
            #expect(try verification.rebuilt() == story.signed, "each statement once, byte for byte")
            #expect(try verification.count("headers") == 1)

            let told = try stage.facts().identifiers(of: .purchaseVerified)
            #expect(Set(told.keys) == Set(story.genuine.map(\.id)), "every genuine submission is told")
            #expect(told.values.allSatisfy { $0.count == 1 }, "all copies under one id")
            let answers = try stage.answers().answers(PurchaseAnswered.self)
            #expect(Set(answers.keys) == Set(story.forged.map(\.id)), "every forger is answered, nobody else")
            #expect(answers.values.joined().allSatisfy { $0.status == .refused && !$0.mayFinish })
        }
    }

    @Test func `what follows from a fact goes on to the service that decides, with the place to answer to`()
        async throws
    {
        let stage = try await Self.stage("passed_on")
        try await onThread {
            _ = try stage.drain(Topology.grantingPurchases.name)
            let request = try stage.request(
                PurchaseSubmitted(
                    app: World.game, userID: UserID("alice"), orderNumber: OrderNumber("IAP1"),
                    signedTransaction: World().sign()))
            try stage.publish([request])
            try stage.run(handler: { try VerificationDatabase.handler() }) {
                try stage.depth(Topology.grantingPurchases.name) == 1
            }
            let passed = try #require(try stage.drain(Topology.grantingPurchases.name).first).properties
            #expect(passed.type == MessageType.purchaseVerified.rawValue)
            #expect(passed.replyTo == LaneStage.replies)
            #expect(passed.correlationID == request.properties.correlationID)
            #expect(passed.headers[HeaderName.causationID]?.stringValue == request.id.rawValue)
            #expect(passed.headers[HeaderName.app] == "game" && passed.headers[HeaderName.environment] == "Production")
        }
    }
}
