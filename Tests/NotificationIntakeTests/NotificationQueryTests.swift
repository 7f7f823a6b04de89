import Messages
import Pipeline
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
            var session = try intake.open(handler: AnswerNotificationQueries())
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
}
