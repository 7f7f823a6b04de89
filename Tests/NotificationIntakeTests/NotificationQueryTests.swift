import Messages
import Pipeline
import Postgres
import TestSupport
import Testing

@testable import NotificationIntake

/// Which notifications have come in, from a real database.
@Suite(.timeLimit(.minutes(2))) struct NotificationQueryTests {
    private static func states(
        _ session: inout Session, _ keys: [NotificationKey]
    ) throws -> [NotificationState] {
        let header = MessageHeader(
            id: MessageID(UUIDText.random()), type: .notificationStatesRequested, version: 1, occurredAt: World.now,
            correlationID: "c", replyTo: "reconciliation")
        let question = try MessageCoding.encode(NotificationStatesRequested(keys: keys))
        let outcome = try session.run([Incoming(header: header, body: question, isRedelivered: false)])[0]
        guard case .done(let facts, let reply?) = outcome, facts.isEmpty else { return [] }
        return try MessageCoding.decode(NotificationStatesAnswered.self, from: reply.body).states
    }

    @Test func `what is stored is told with its time, each key once, and of what never came that it did not (R24)`()
        async throws
    {
        try await IntakeDatabase.with("states") { intake in
            let world = try World()
            do {
                var session = try intake.open()
                _ = try session.run([try received(world.sign("REFUND", 1)), try received(world.sign("REFUND", 2))])
            }
            var session = try intake.open(handler: AnswerQueries())
            func key(_ number: Int, _ environment: StoreEnvironment = .production) -> NotificationKey {
                NotificationKey(environment: environment, notificationUUID: World.uuid(number))
            }
            let wrong = NotificationKey(environment: .production, notificationUUID: "none")
            let keys = [key(2), key(3), key(1, .sandbox), wrong, key(1)]
            let states = try Self.states(&session, keys)
            #expect(states.map(\.key) == keys)
            #expect(states.map { $0.storedAt != nil } == [true, false, false, false, true])
            let many = (1...600).map { key($0) }
            #expect(try Self.states(&session, many).count == NotificationStatesRequested.mostKeys)
        }
    }

    @Test func `consumption requests are told when their time runs out or did, but none that waits for a word (A-117)`()
        async throws
    {
        try await IntakeDatabase.with("deadlines") { intake in
            let stage = ConsumptionStage(intake)
            try stage.store(1...4)
            let end = stage.schedule.deadline(signedAt: World.now - 1_000)
            func set(_ number: Int, _ change: String) throws {
                try intake.database.execute(
                    "UPDATE intake.consumption_requests SET \(change) WHERE notification_uuid = '\(World.uuid(number))'"
                )
            }
            try set(1, "reason = 'apple_unauthorized'")
            try set(2, "reason = 'no_consent'")
            try set(3, "state = 'expired', reason = 'no_key', ended_at = \(end)")
            try set(4, "state = 'skipped', reason = 'policy', ended_at = \(end)")
            func told(before: Int64, endedAfter: Int64) throws -> [String] {
                var connection = try stage.connect()
                let question = ConsumptionDeadlinesRequested(before: before, endedAfter: endedAfter)
                return try connection.transaction { try ConsumptionDeadlineTable.read(question, in: &$0) }
                    .map { "\($0.key.notificationUUID) \($0.reason) \($0.isOver) \($0.deadline == end)" }
            }
            let waiting = "\(World.uuid(1)) apple_unauthorized false true"
            let over = "\(World.uuid(3)) no_key true true"
            #expect(try told(before: end + 1, endedAfter: end - 1) == [waiting, over])
            #expect(try told(before: end, endedAfter: end - 1) == [over])
            #expect(try told(before: end + 1, endedAfter: end) == [waiting])
        }
    }
}
