import AppStore
import AppStoreSimulation
import Crypto
import Messages
import Observability
import Pipeline
import Postgres
import Synchronization
import TestSupport
import Testing
import Trust

@testable import NotificationIntake

/// What revoked certificates mean for notifications: by what this service was told, from its own schema.
@Suite(.serialized, .timeLimit(.minutes(5))) struct RevocationTests {
    private static func chain() throws -> SignerChain {
        let authority = try World().authority
        return SignerChain(leaf: authority.leaf, intermediate: authority.intermediate)
    }

    /// What Verification says.
    private static func checked(
        revokedAt: Int64? = nil, reason: Int64? = nil, asOf: Int64 = 1, chain: String? = nil
    ) throws -> ChainChecked {
        var checked = ChainChecked(
            chain: try chain ?? Hex.encode(Self.chain().id), subject: "/CN=Leaf", serialNumber: "01", leafAsOf: asOf,
            intermediateAsOf: asOf, answerEnds: World.now + 43_200_000, checkAgainAt: World.now + 21_600_000)
        checked.revokedAt = revokedAt
        checked.reason = reason
        return checked
    }

    private static func incoming(_ checked: ChainChecked) throws -> Incoming {
        let header = MessageHeader(
            id: MessageID(UUIDText.random()), type: .chainChecked, version: 1, occurredAt: World.now,
            correlationID: "correlation")
        return Incoming(header: header, body: try MessageCoding.encode(checked), isRedelivered: false)
    }

    private static func record(_ intake: IntakeDatabase, _ checked: ChainChecked) throws -> Outcome {
        var session = try intake.open(handler: RecordChains(logger: .silent))
        return try session.run([try incoming(checked)])[0]
    }

    @Test func `what a revoked chain signed is kept apart and not told; what it signed before still is (S14)`()
        async throws
    {
        try await IntakeDatabase.with("revoked") { intake in
            _ = try Self.record(intake, try Self.checked(revokedAt: World.now - 2_000, reason: 4))
            var session = try intake.open(handler: try IntakeDatabase.handler(revocation: .background))
            let late = try session.run([try received(World().sign())])[0]
            #expect(late.facts.isEmpty)
            let row = try #require(try intake.rows("SELECT reason FROM intake.quarantine").first)
            #expect(try row.text("reason") == "revoked")
            let early = try World().sign("TEST", 2, transaction: nil) { $0.signedDate = World.now - 3_000 }
            #expect(try session.run([try received(early)])[0].told.count == 1)
            // A revocation is never undone by what was right before it.
            _ = try Self.record(intake, try Self.checked(asOf: 0))
            var other = try intake.open(handler: try IntakeDatabase.handler(revocation: .background))
            #expect(try other.run([try received(World().sign("TEST", 3, transaction: nil))])[0].facts.isEmpty)
        }
    }

    @Test func `a revoked signature inside counts as much as the one outside`() async throws {
        try await IntakeDatabase.with("revoked_inside") { intake in
            // The transaction was signed after the revocation, the notification's own date is before it.
            _ = try Self.record(intake, try Self.checked(revokedAt: World.now - 30_000, reason: 4))
            var transaction = World.transaction()
            transaction.signedDate = World.now - 10_000
            let signed = try World().sign("ONE_TIME_CHARGE", 1, transaction: transaction) {
                $0.signedDate = World.now - 40_000
            }
            var session = try intake.open(handler: try IntakeDatabase.handler(revocation: .background))
            #expect(try session.run([try received(signed)])[0].facts.isEmpty)
            #expect(try intake.count("quarantine") == 1 && intake.count("notifications") == 0)
        }
    }

    @Test func `a chain that this service sees first is asked about by it, once`() async throws {
        try await IntakeDatabase.with("asks") { intake in
            var session = try intake.open(handler: try IntakeDatabase.handler(revocation: .background))
            let first = try session.run([try received(World().sign())])[0]
            #expect(
                Set(first.facts.map(\.type)) == [
                    MessageType(rawValue: "notification.one_time_charge"), .chainCheckRequested,
                ])
            let second = try session.run([try received(World().sign("TEST", 2, transaction: nil))])[0]
            #expect(second.facts.count == 1)
        }
    }

    @Test func `under required a notification waits without limit until the answer is there`() async throws {
        try await IntakeDatabase.with("required") { intake in
            let handler = try IntakeDatabase.handler(revocation: .required)
            var session = try intake.open(handler: handler)
            let signed = try World().sign()
            let waiting = try session.run([try received(signed, attempt: 40)])[0]
            #expect(waiting.isOutage)
            #expect(try intake.count("notifications") == 0 && intake.count("quarantine") == 0)
            _ = try Self.record(intake, try Self.checked())
            var later = try intake.open(handler: try IntakeDatabase.handler(revocation: .required))
            #expect(try later.run([try received(signed)])[0].told.count == 1)
        }
    }

    @Test(arguments: ["", "00", "zz", String(repeating: "z", count: 64)])
    func `what names no chain is parked`(chain: String) async throws {
        try await IntakeDatabase.with("unnamed_\(chain.count)_\(chain.prefix(1))") { intake in
            let outcome = try Self.record(intake, try Self.checked(chain: chain))
            #expect(outcome.parkedReason == Incoming.unreadable)
            #expect(try intake.count("chains") == 0)
        }
    }

    @Test(arguments: LaneFault.allCases.filter { $0 != .losesConfirm })
    func `what was told is kept, whatever happens to the lane (C1 C2 C3 C4 C7 C20)`(fault: LaneFault) async throws {
        let stage = try await LaneStage.make(
            suite: "intake_chains", name: fault.rawValue, queue: Topology.intakeRevocations,
            migrations: IntakeProgram.migrations)
        try await onThread {
            // Newest in the middle: order does not matter.
            let messages = try [1, 2, 5, 9, 4, 3].map { number in
                try stage.request(
                    try Self.checked(
                        revokedAt: number == 9 ? World.now : nil, reason: number == 9 ? 1 : nil, asOf: number))
            }
            let intake = IntakeDatabase(database: stage.database)
            try stage.survive(
                fault, messages, fact: .chainChecked, handler: { RecordChains(logger: .silent) }
            ) {
                try intake.rows("SELECT FROM intake.chains WHERE leaf_as_of = 9").count == 1
            }
            #expect(try stage.leftovers() == [])
            let row = try #require(try intake.rows("SELECT status, reason, revoked_at FROM intake.chains").first)
            #expect(try row.text("status") == "revoked" && row.int8("revoked_at") == World.now)
        }
    }
}
