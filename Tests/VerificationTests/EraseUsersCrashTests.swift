import AMQP
import Messages
import Pipeline
import Postgres
import TestSupport
import Testing

@testable import Verification

/// Every place the lane that forgets users can die at, on real parts.
@Suite(.serialized, .timeLimit(.minutes(5))) struct EraseUsersCrashTests {
    @Test(arguments: LaneFault.allCases)
    func `a user is taken out of everything, and nobody else (C1 C2 C3 C4 C7 C8)`(fault: LaneFault) async throws {
        let stage = try await LaneStage.make(
            suite: "erase_crash", name: fault.rawValue, queue: Topology.verificationCommands,
            migrations: VerificationProgram.migrations)
        try await onThread {
            let verification = VerificationDatabase(database: stage.database)
            var session = try verification.open()
            let world = try World()
            let signed = try (1...9).map { try world.sign("\(1_000 + $0)") }
            _ = try session.run(
                try signed.enumerated().map { try submission($1, by: $0 % 3 == 0 ? "alice-canary" : "bob") }
                    + [submission("forged", by: "alice-canary")])
            let requests = try ["alice-canary", "carol-canary", "dave-canary"].map { user in
                try stage.request(
                    UserEraseRequested(
                        app: World.game, userID: UserID(user), formerIDs: [], actor: "op", reason: "asked"))
            }
            try stage.survive(
                fault, requests, fact: .evidenceEraseRequested, batchOf: 1,
                handler: { EraseUsers(settling: 0, page: 2) }
            ) { try verification.rows("SELECT FROM verification.erasures WHERE done_at IS NOT NULL").count == 3 }
            #expect(try stage.leftovers() == [])
            #expect(try EraseUsersTests.tablesNaming("canary", verification) == [])
            #expect(try verification.rebuilt() == signed)
            #expect(try verification.rows("SELECT FROM verification.evidence WHERE submitter = 'bob'").count == 6)
            let row = try #require(
                try verification.rows("SELECT facts, evidence FROM verification.erasures WHERE facts > 0").first)
            #expect(try row.int8("facts") == 3 && row.int8("evidence") == 4)
        }
    }
}
