import AMQP
import AppStoreSimulation
import JOSE
import LegacyReceipts
import Messages
import Observability
import Pipeline
import TestSupport
import Testing
import Trust

@testable import Verification

/// Every place at which the lane that asks Apple about receipts can die, and the one that has it asked, on real parts.
@Suite(.serialized, .timeLimit(.minutes(5))) struct CheckReceiptsCrashTests {
    private static func stage(_ name: String, _ queue: Topology.Queue) async throws -> LaneStage {
        try await LaneStage.make(
            suite: queue.name == Topology.verificationReceipts.name ? "receipt_asked" : "receipt_opened", name: name,
            queue: queue, migrations: VerificationProgram.migrations)
    }

    @Test(arguments: LaneFault.allCases)
    func `what Apple says about a receipt is kept and told once (C1 C2 C3 C4 C7 C8 C20)`(fault: LaneFault) async throws
    {
        let stage = try await Self.stage(fault.rawValue, Topology.verificationReceipts)
        try await onThread {
            let apple = try AppleStage.start()
            defer { apple.stop() }
            // Genuine by turns with refused, of which Apple says one status for all.
            let receipt = OpenReceipt.receipt(["1", "2"], type: "Production")
            apple.answer("production", AppleStage.json(receipt.answer))
            let database = VerificationDatabase(database: stage.database)
            let container = try OpenReceipt.container(receipt)
            var genuine: [OutgoingMessage] = []
            var refused: [OutgoingMessage] = []
            for number in 1...6 {
                for product in [OpenReceipt.product, "com.example.game.other\(number)"] {
                    let request = try database.open(container, product: product)
                    let body = try MessageCoding.decode(ReceiptCheckRequested.self, from: request.body)
                    let message = try stage.request(body, id: request.header.id)
                    if product == OpenReceipt.product { genuine.append(message) } else { refused.append(message) }
                }
            }
            let all = zip(genuine, refused).flatMap { [$0, $1] }
            try stage.survive(fault, all, fact: .purchaseVerified, handler: { try apple.handler() }) {
                try database.rows("SELECT FROM verification.receipt_checks WHERE receipt IS NOT NULL").isEmpty
            }
            #expect(try stage.leftovers() == [])
            #expect(try database.count("receipts") == 1)
            #expect(try database.count("receipt_answers") == 1)
            #expect(try database.count("receipt_purchases") == 2)
            #expect(try database.count("quarantine") == Int64(refused.count))
            let told = try stage.facts().identifiers(of: .purchaseVerified)
            #expect(Set(told.keys) == Set(genuine.map(\.id)), "every genuine one is told")
            #expect(told.values.allSatisfy { $0.count == 1 }, "all copies under one id")
            let answers = try stage.answers().answers(PurchaseAnswered.self)
            #expect(Set(answers.keys) == Set(refused.map(\.id)), "every refusal is answered, nothing else")
            #expect(answers.values.joined().allSatisfy { $0.status == .refused && !$0.mayFinish })
        }
    }

    @Test(arguments: LaneFault.allCases)
    func `a receipt that cannot be judged leads to one question, whatever happens (C1 C2 C3 C4 C7 C8 C20)`(
        fault: LaneFault
    ) async throws {
        let stage = try await Self.stage(fault.rawValue, Topology.verificationPurchases)
        try await onThread {
            let submissions = try (1...12).map { number in
                try stage.request(
                    OpenReceipt.submitted(try OpenReceipt.container(OpenReceipt.receipt(["\(number)"]))))
            }
            let database = VerificationDatabase(database: stage.database)
            try stage.survive(
                fault, submissions, fact: .receiptCheckRequested,
                handler: {
                    VerifyPurchases(
                        verifier: try World().verifier(), receipts: try World().receiptVerifier(), metrics: Metrics(),
                        logger: .silent, revocation: .off, canAskApple: true, now: { World.now })
                }
            ) {
                try database.count("facts") == 12
            }
            #expect(try stage.leftovers() == [])
            let told = try stage.facts().identifiers(of: .receiptCheckRequested)
            #expect(Set(told.keys) == Set(submissions.map(\.id)))
            #expect(told.values.allSatisfy { $0.count == 1 }, "all copies under one id")
            #expect(try database.count("receipt_checks") == 12)
        }
    }

    @Test func `while Apple does not answer the request waits on the ladder, with the place to answer to`() async throws
    {
        let stage = try await Self.stage("outage", Topology.verificationReceipts)
        try await onThread {
            let apple = try AppleStage.start()
            defer { apple.stop() }
            apple.answer("production", AppleStage.status(21_005))
            let receipt = OpenReceipt.receipt(type: "Production")
            let database = VerificationDatabase(database: stage.database)
            let request = try database.open(try OpenReceipt.container(receipt))
            let body = try MessageCoding.decode(ReceiptCheckRequested.self, from: request.body)
            let message = try stage.request(body, id: request.header.id)
            try stage.publish([message])
            try stage.run(handler: { try apple.handler() }) { apple.asked.count == 1 }
            let pending = try stage.answers().answers(PurchaseAnswered.self)
            #expect(pending[message.id]?.map(\.status) == [.pending])
            apple.answer("production", AppleStage.json(receipt.answer))
            try stage.run(handler: { try apple.handler() }) { try database.count("receipt_answers") == 1 }
            #expect(try stage.facts().identifiers(of: .purchaseVerified).keys.first == message.id)
            #expect(try stage.leftovers() == [])
        }
    }
}
