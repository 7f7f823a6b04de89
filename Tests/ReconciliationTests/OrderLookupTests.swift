import AppStoreServerAPI
import AppStoreSimulation
import JSON
import Messages
import Observability
import Pipeline
import Postgres
import ServerAPIAccess
import TestSupport
import Testing

@testable import AppStoreServerAPI
@testable import Reconciliation

/// What operators are told about an order id of Apple's.
@Suite(.timeLimit(.minutes(2))) struct OrderLookupTests {
    /// What a scripted Apple says of each app.
    private final class Door: OrderDoor {
        var said: [String: Result<Bool, ServerAPIError>] = [:]
        var asked: [String] = []

        func replace(_ access: AppStoreAccess) {}

        func order(_ id: String, of place: ServerAPIClients.Place) throws(ServerAPIError) -> OrderLookup {
            asked.append(place.bundleID)
            let isValid = try (said[place.bundleID] ?? .success(false)).get()
            guard let answer = try? OrderLookup(["status": isValid ? 0 : 1, "signedTransactions": ["a.b.c"]]) else {
                throw .unreadable("the test's answer")
            }
            return answer
        }
    }

    @Test func `an order id of Apple is asked app by app until one has it, and only what is verified is told (A-126)`()
        async throws
    {
        let database = try await TestDatabase.shared("apple_orders")
        try await onThread {
            try database.migrate(ReconciliationProgram.name, ReconciliationProgram.migrations)
            var connection = try database.open(role: "purser_reconciliation")
            let door = Door()
            door.said = ["b1": .failure(.unauthorized), "b3": .success(true)]
            let places = ["b1", "b2", "b3", "b4"].map {
                ServerAPIClients.Place(app: AppID("game"), environment: .production, bundleID: $0)
            }
            var handler = AnswerOrderLookups(
                door: door,
                places: places + [.init(app: AppID("game"), environment: .sandbox, bundleID: "b0")], trust: { nil })
            let header = MessageHeader(
                id: MessageID(UUIDText.random()), type: .appleOrderRequested, version: 1, occurredAt: 1,
                correlationID: "c")
            let question = Incoming(
                header: header, body: try MessageCoding.encode(AppleOrderRequested(orderID: "MK1")),
                isRedelivered: false)
            let outcomes = try connection.transaction { try handler.handle([question], in: &$0) }
            guard case .done(_, let reply?) = outcomes[0] else { throw DoesNotStop() }
            let answer = try MessageCoding.decode(AppleOrderAnswered.self, from: reply.body)
            #expect(door.asked == ["b1", "b2", "b3"])
            #expect(answer.asked == 2 && answer.unverified == 1 && answer.purchases.isEmpty)
            #expect(answer.problems.map(\.code) == ["server_api.unauthorized"])
        }
    }
}
