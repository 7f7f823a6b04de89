import AMQP
import AppStore
import AppStoreSimulation
import Messages
import Pipeline
import TestSupport
import Testing
import Trust

@testable import Verification

/// Every place at which the lane that asks can die, on real parts; and the one that makes it ask.
@Suite(.serialized, .timeLimit(.minutes(5))) struct CheckChainsCrashTests {
    private static func stage(_ name: String, _ queue: Topology.Queue) async throws -> LaneStage {
        try await LaneStage.make(
            suite: queue.name == Topology.verificationPurchases.name ? "chain_asked" : "chain_checked", name: name,
            queue: queue, migrations: VerificationProgram.migrations)
    }

    @Test(arguments: LaneFault.allCases)
    func `an answer is kept once and told to whoever asked, under one id each (C1 C2 C3 C4 C7 C8 C20)`(
        fault: LaneFault
    ) async throws {
        let stage = try await Self.stage(fault.rawValue, Topology.verificationRevocations)
        try await onThread {
            let responder = try ResponderStage.start()
            defer { responder.stop() }
            let requests = try (0..<12).map { _ in try stage.request(responder.request) }
            let verification = VerificationDatabase(database: stage.database)
            try stage.survive(fault, requests, fact: .chainChecked, handler: { try responder.handler() }) {
                try verification.count("facts") == 12
            }
            #expect(try stage.leftovers() == [])
            #expect(try verification.count("chains") == 1)
            #expect(try verification.state(of: responder.chain)?.answer == .good)
            let told = try stage.facts().identifiers(of: .chainChecked)
            #expect(Set(told.keys) == Set(requests.map(\.id)), "every request is answered")
            #expect(told.values.allSatisfy { $0.count == 1 }, "all copies under one id")
        }
    }

    @Test(arguments: LaneFault.allCases)
    func `a new chain leads to one request, whatever happens to the lane that saw it (C1 C2 C3 C4 C7 C8 C20)`(
        fault: LaneFault
    ) async throws {
        let stage = try await Self.stage(fault.rawValue, Topology.verificationPurchases)
        try await onThread {
            let submissions = try (1...12).map { number in
                try stage.request(
                    PurchaseSubmitted(
                        app: World.game, userID: UserID("alice"), orderNumber: nil,
                        signedTransaction: World().sign("\(number)")))
            }
            let verification = VerificationDatabase(database: stage.database)
            try stage.survive(
                fault, submissions, fact: .purchaseVerified,
                handler: { try VerificationDatabase.handler(revocation: .background) }
            ) {
                try verification.count("facts") == 13
            }
            let told = try stage.facts().identifiers(of: .chainCheckRequested)
            #expect(told.count == 1 && told.values.allSatisfy { $0.count == 1 }, "\(told)")
            #expect(try verification.count("chains") == 1)
        }
    }

    @Test func `while nobody answers the request waits on the ladder, and is there after every restart`() async throws {
        let stage = try await Self.stage("outage", Topology.verificationRevocations)
        try await onThread {
            let responder = try ResponderStage.start()
            defer { responder.stop() }
            responder.responder.set(.init(.unreachable))
            let request = try stage.request(responder.request)
            let verification = VerificationDatabase(database: stage.database)
            try stage.publish([request])
            try stage.run(handler: { try responder.handler() }) {
                try verification.rows("SELECT FROM verification.chains WHERE attempt = 'http_status'").count == 1
            }
            #expect(try stage.parkedReasons() == [])
            // The ladder brings it back by itself, to a process that knows nothing of it.
            responder.responder.set(.init(.good))
            try stage.run(handler: { try responder.handler() }) { try verification.count("facts") == 1 }
            #expect(try stage.facts().identifiers(of: .chainChecked).keys.first == request.id)
            #expect(try stage.leftovers() == [])
        }
    }
}
