import AMQP
import Messages
import Observability
import Runtime
import TestSupport
import Testing

@testable import Pipeline

/// Questions to a broker that raises an alarm, which touches every connection of the shared broker: these run apart.
@Suite(.serialized, .timeLimit(.minutes(5))) struct RequesterFaultTests {
    @Test func `whoever asks a broker with an alarm is told within a second, also who asked as it was raised (R14)`()
        async throws
    {
        let fixture = try await LaneFixture.make("ask_alarm")
        // Granting, since only it may say what is asked here.
        let requester = Requester.start(user: "granting", broker: fixture.broker.endpoint, logger: .silent)
        let stop = StopSignal()
        let lane = fixture.lane(stop: stop)
        try await eventually("answered") { (try? await Self.ask(requester, "1", .seconds(10))) != nil }
        let limit = try await onThread { try fixture.broker.memoryLimit() }
        try await onThread { try fixture.broker.limitMemory("20MB") }
        // The first one finds it out, the second is told at once, without being published.
        for word in ["2", "3"] {
            let start = ContinuousClock.now
            await #expect(throws: RequestError.brokerUnavailable(reason: "it is blocked by an alarm")) {
                try await Self.ask(requester, word, .seconds(300))
            }
            #expect(start.duration(to: .now) < .seconds(60), "the patience of a client is not used up")
        }
        await #expect(throws: RequestError.brokerUnavailable(reason: "it is blocked by an alarm")) {
            try await requester.tell(
                PurchaseRedriveRequested(transactionID: .init("5"), environment: .sandbox),
                context: .init(app: nil, correlationID: UUIDText.random(), patience: .seconds(30)))
        }
        #expect(!requester.isReady)
        try await onThread { try fixture.broker.limitMemory(limit) }
        try await eventually("answered again") { (try? await Self.ask(requester, "4", .seconds(10))) != nil }
        try await onThread {
            requester.shutDown(within: .seconds(30))
            stop.stop()
            #expect(lane.join(for: .seconds(60)))
        }
    }

    private static func ask(_ requester: Requester, _ word: String, _ patience: Duration) async throws
        -> BalanceAnswered
    {
        try await requester.ask(
            PurchaseRedriveRequested(transactionID: .init(word), environment: .sandbox),
            expecting: BalanceAnswered.self,
            context: .init(app: .init("app"), correlationID: UUIDText.random(), patience: patience))
    }
}
