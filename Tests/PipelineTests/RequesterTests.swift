import AMQP
import Messages
import Observability
import Postgres
import Runtime
import TestSupport
import Testing

@testable import Pipeline

/// Questions over the real broker: answered, parked, unanswered, and with the broker going away.
@Suite(.serialized, .timeLimit(.minutes(5))) struct RequesterTests {
    /// Who may say what is asked here.
    private static let user = "granting"

    private func withRequester(
        _ name: String, endpoint change: (inout AMQPEndpoint) -> Void = { _ in },
        _ body: (Requester, LaneFixture) async throws -> Void
    ) async throws {
        let fixture = try await LaneFixture.make(name)
        var endpoint = fixture.broker.endpoint
        change(&endpoint)
        let requester = Requester.start(user: Self.user, broker: endpoint, logger: .silent)
        try await eventually("the requester is ready") { () async in requester.isReady }
        do {
            try await body(requester, fixture)
        } catch {
            try await onThread { () throws in requester.shutDown(within: .seconds(30)) }
            throw error
        }
        try await onThread { () throws in requester.shutDown(within: .seconds(30)) }
    }

    private func ask(_ requester: Requester, _ word: String, patience: Duration = .seconds(60)) async throws
        -> BalanceAnswered
    {
        try await requester.ask(
            PurchaseRedriveRequested(transactionID: .init(word), environment: .sandbox),
            expecting: BalanceAnswered.self,
            context: .init(app: .init("app"), correlationID: UUIDText.random(), patience: patience))
    }

    @Test func `two hundred questions at once each get their own answer`() async throws {
        try await withRequester("ask_many") { requester, fixture in
            let stop = StopSignal()
            let lane = fixture.lane(stop: stop)
            let answers = try await withThrowingTaskGroup(of: BalanceAnswered.self) { group in
                for number in 1...200 { group.addTask { try await ask(requester, String(number)) } }
                return try await group.reduce(into: 0) { count, _ in count += 1 }
            }
            #expect(answers == 200 && requester.waiting == 0)
            try await onThread {
                stop.stop()
                #expect(lane.join(for: .seconds(60)))
                let tally = try fixture.counted().tally
                #expect(tally == 200)
            }
        }
    }

    @Test func `of two waiters with one correlation id the first is told at once, the second gets the answer`()
        async throws
    {
        let pending = PendingReplies()
        let deadline = ContinuousClock.now + .seconds(60)
        let first = Task {
            try await withCheckedThrowingContinuation { pending.add("c", deadline: deadline, $0) } as Delivery
        }
        try await eventually("the first waits") { () async in pending.count == 1 }
        let second = Task {
            try await withCheckedThrowingContinuation { pending.add("c", deadline: deadline, $0) } as Delivery
        }
        await #expect(throws: RequestError.timedOut) { try await first.value }
        let answer = Delivery(
            tag: 1, exchange: "", routingKey: "", isRedelivered: false, properties: .init(correlationID: "c"),
            body: [7])
        pending.answer(answer)
        #expect(try await second.value == answer)
        #expect(pending.count == 0)
    }

    @Test func `a parked question tells its asker`() async throws {
        try await withRequester("ask_parked") { requester, fixture in
            let stop = StopSignal()
            let lane = fixture.lane(stop: stop)
            await #expect(throws: RequestError.parked(reason: "test.parked")) { try await ask(requester, "park") }
            try await onThread {
                stop.stop()
                _ = lane.join(for: .seconds(60))
            }
        }
    }

    @Test func `nobody answering ends with a time-out, and the question stays in its queue`() async throws {
        try await withRequester("ask_unanswered") { requester, fixture in
            await #expect(throws: RequestError.timedOut) {
                try await ask(requester, "1", patience: .milliseconds(300))
            }
            try await onThread {
                let depth = try fixture.depth(fixture.queue.name)
                #expect(depth == 1)
            }
        }
    }

    @Test func `a question no queue takes fails at once and says what to do`() async throws {
        try await withRequester("ask_unroutable") { requester, fixture in
            try await onThread {
                var inspector = try Inspector.open(fixture.broker.endpoint, connectionName: "test")
                try inspector.deleteQueue(fixture.queue.name)
                inspector.close()
            }
            await #expect(
                throws: RequestError.brokerUnavailable(reason: "no queue takes it; is the topology imported?")
            ) {
                try await ask(requester, "1")
            }
        }
    }

    private func tell(_ requester: Requester, _ word: String, patience: Duration = .seconds(10)) async throws {
        try await requester.tell(
            PurchaseRedriveRequested(transactionID: .init(word), environment: .sandbox),
            context: .init(app: .init("app"), correlationID: UUIDText.random(), patience: patience))
    }

    @Test func `what was told is in its queue, persistent, when the call returns, and asks for no answer`() async throws
    {
        try await withRequester("tell") { requester, fixture in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 1...100 { group.addTask { try await tell(requester, String(number)) } }
                try await group.waitForAll()
            }
            try await onThread {
                let depth = try fixture.depth(fixture.queue.name)
                #expect(depth == 100)
                var consumer = try Consumer.open(
                    fixture.broker.endpoint, connectionName: "test", queue: fixture.queue.name, prefetch: 1)
                defer { consumer.close() }
                let first = try #require(try consumer.receive(max: 1, wait: .seconds(5)).first)
                #expect(first.properties.isPersistent && first.properties.replyTo == nil)
                #expect(first.properties.headers[HeaderName.app] == "app")
            }
        }
    }

    @Test func `what no queue takes was not told`() async throws {
        try await withRequester("tell_unroutable") { requester, fixture in
            try await onThread {
                var inspector = try Inspector.open(fixture.broker.endpoint, connectionName: "test")
                try inspector.deleteQueue(fixture.queue.name)
                inspector.close()
            }
            await #expect(
                throws: RequestError.brokerUnavailable(reason: "no queue takes it; is the topology imported?")
            ) {
                try await tell(requester, "1")
            }
        }
    }

    @Test func `more than may wait is refused at once, while a broker says nothing, and nobody waits for ever`()
        async throws
    {
        let fixture = try await LaneFixture.make("tell_silent")
        let proxy = try FaultyProxy(port: fixture.broker.endpoint.port)
        defer { proxy.close() }
        var endpoint = fixture.broker.endpoint
        (endpoint.host, endpoint.port) = ("127.0.0.1", proxy.port)
        let requester = Requester.start(user: Self.user, broker: endpoint, logger: .silent)
        try await eventually("ready") { () async in requester.isReady }
        proxy.stall()
        let outcomes = await withTaskGroup(of: RequestError?.self) { group in
            for number in 0..<(Requester.tellLimit + 10) {
                group.addTask {
                    do {
                        try await tell(requester, String(number), patience: .milliseconds(700))
                        return nil
                    } catch { return error as? RequestError }
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(outcomes.allSatisfy { $0 != nil })
        #expect(outcomes.contains(.timedOut) && outcomes.contains(.overloaded))
        proxy.cut()
        try await onThread { () throws in requester.shutDown(within: .seconds(5)) }
    }

    @Test func `after the connections were cut it answers again by itself`() async throws {
        let fixture = try await LaneFixture.make("ask_cut")
        let proxy = try FaultyProxy(port: fixture.broker.endpoint.port)
        defer { proxy.close() }
        var endpoint = fixture.broker.endpoint
        (endpoint.host, endpoint.port) = ("127.0.0.1", proxy.port)
        let requester = Requester.start(user: Self.user, broker: endpoint, logger: .silent)
        let stop = StopSignal()
        let lane = fixture.lane(stop: stop)
        try await eventually("ready") { () async in requester.isReady }
        proxy.cut()
        try await eventually("answered again") { (try? await ask(requester, "7", patience: .seconds(1))) != nil }
        try await onThread {
            requester.shutDown(within: .seconds(30))
            stop.stop()
            #expect(lane.join(for: .seconds(60)))
        }
    }
}
