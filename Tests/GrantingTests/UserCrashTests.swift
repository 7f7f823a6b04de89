import AMQP
import Messages
import Pipeline
import TestSupport
import Testing

@testable import Granting

/// Every place the lane of commands can die at, on real parts, while users are erased and transferred and the sandbox is
/// swept.
/// On the same stage as the other commands, so one after the other with them.
extension RunCommandsCrashTests {
    @Test(arguments: LaneFault.allCases)
    func `users are erased and transferred once, the sandbox is swept once (C1 C2 C3 C4 C7 C8)`(fault: LaneFault)
        async throws
    {
        let granting = try await GrantingStage.make(
            Topology.grantingCommands, "users_\(fault.rawValue)", Shop.definition(audience: .everybody))
        try await onThread {
            var session = try granting.granting.open()
            _ = try session.run(
                GrantPurchases(),
                try (1...10).map { number in
                    try verified(
                        transaction("\(number)", environment: number > 5 ? .sandbox : .production), by: "user\(number)")
                })
            let erase = UserEraseRequested(
                app: Shop.app, userID: UserID("user1"), formerIDs: [], actor: "op", reason: "asked")
            let transfer = UserTransferRequested(
                app: Shop.app, fromUserID: UserID("user2"), toUserID: UserID("registered"),
                requestID: "00000000-0000-4000-8000-0000000000a1", actor: "op", reason: "registered")
            let sweep = SandboxSweepRequested(
                app: Shop.app, sweep: "00000000-0000-4000-8000-0000000000b1", before: WallClock.milliseconds + 60_000,
                after: nil, actor: "op", isDryRun: false)
            let stage = granting.stage
            let (erased, moved, swept) = (
                try stage.request(erase), try stage.request(transfer), try stage.request(sweep)
            )
            try stage.survive(fault, [erased, moved, swept], fact: .userErased, batchOf: 1, handler: { RunCommands() })
            {
                try granting.number("SELECT count(*) FROM granting.sweeps") == 1
            }
            try granting.expectOrder()
            #expect(
                try granting.granting.users() == [
                    "registered", "user10", "user3", "user4", "user5", "user6", "user7", "user8", "user9", "-",
                ])
            #expect(try granting.number("SELECT sum(balance) FROM granting.accounts") == 300)
            #expect(
                try granting.number("SELECT count(*) FROM granting.ledger WHERE source_type = 'SANDBOX_SWEEP'") == 5)
            #expect(try granting.number("SELECT count(*) FROM granting.user_commands") == 2)
            try Self.expectTold(stage, erased.id, moved.id, swept.id)
        }
    }

    private static func expectTold(
        _ stage: LaneStage, _ erased: MessageID, _ moved: MessageID, _ swept: MessageID
    ) throws {
        let facts = try stage.facts()
        #expect(facts.identifiers(of: .userErased)[erased]?.count == 1)
        #expect(facts.identifiers(of: .userTransferred)[moved]?.count == 1)
        #expect(facts.identifiers(of: .sandboxSwept)[swept]?.count == 5)
        let answers = try stage.answers()
        #expect(try answers.answers(UserEraseAnswered.self)[erased]?.allSatisfy { $0.customer != nil } == true)
        let moves = try answers.answers(UserTransferAnswered.self)[moved]
        #expect(moves?.allSatisfy { $0.outcome == .transferred } == true)
        let pages = try answers.answers(SandboxSweepAnswered.self)[swept] ?? []
        #expect(!pages.isEmpty && pages.allSatisfy { $0.purchases == 5 && $0.amounts.first?.amount == 300 })
    }
}
