import AMQP
import TestSupport
import Testing

/// Faults of the network and of the whole broker. The alarm touches every connection of the broker, so these run apart
/// from others (`--no-parallel`).
@Suite(.serialized, .timeLimit(.minutes(5))) struct FaultTests {
    @Test func `a half-open connection is given up after two heartbeats (R12)`() async throws {
        let broker = try await BrokerFixture.shared()
        try await onThread {
            let queue = try broker.freshQueue()
            let proxy = try broker.makeProxy()
            defer { proxy.close() }
            var endpoint = broker.endpoint(through: proxy)
            endpoint.heartbeat = 1
            var consumer = try Consumer.open(endpoint, connectionName: "test", queue: queue, prefetch: 10)
            var publisher = try Publisher.open(endpoint, connectionName: "test")
            proxy.stall()
            let start = ContinuousClock.now
            let error = amqpError { while true { _ = try consumer.receive(max: 1, wait: .seconds(1)) } }
            #expect(error == .heartbeatMissed)
            var calls = 0
            let publishError = amqpError { _ = try publisher.publish([.numbered(0, to: queue)]) { calls += 1 } }
            #expect(publishError == .heartbeatMissed)
            #expect(start.duration(to: .now) < .seconds(60), "the kernel would have tried for a quarter of an hour")
            #expect(amqpError { try publisher.serveHeartbeat() } == .closed)
        }
    }

    @Test func `served heartbeats keep an idle connection, unserved ones lose it`() async throws {
        let broker = try await BrokerFixture.shared()
        try await onThread {
            let queue = try broker.freshQueue()
            var endpoint = broker.endpoint
            endpoint.heartbeat = 3
            var served = try Publisher.open(endpoint, connectionName: "served")
            var starved = try Publisher.open(endpoint, connectionName: "starved")
            // Unserved, it is lost after two heartbeats, and the broker looks once a heartbeat.
            let deadline = ContinuousClock.now.advanced(by: .seconds(12))
            try eventually(every: .milliseconds(200)) {
                try served.serveHeartbeat()
                return ContinuousClock.now > deadline
            }
            #expect(try served.publish([.numbered(0, to: queue)]) == [.confirmed])
            #expect(amqpError { _ = try starved.publish([.numbered(1, to: queue)]) } != nil)
            served.close()
        }
    }

    @Test func `a memory alarm blocks publishing, visibly, and ends without loss (R14)`() async throws {
        let broker = try await BrokerFixture.shared()
        try await onThread {
            let queue = try broker.freshQueue()
            var publisher = try Publisher.open(broker.endpoint, connectionName: "test")
            var consumer = try Consumer.open(broker.endpoint, connectionName: "test", queue: queue, prefetch: 10)
            #expect(try publisher.publish([.numbered(0, to: queue)]) == [.confirmed])
            let limit = try broker.memoryLimit()
            try broker.limitMemory("20MB")
            defer { try? broker.limitMemory(limit) }
            // The notice comes with the first message the broker would have to take.
            #expect(try publisher.publish([.numbered(1, to: queue)], patience: .milliseconds(500)) == [.unconfirmed])
            try eventually {
                try publisher.serveHeartbeat()
                return publisher.isBlocked
            }
            // What awaits no confirm does not wait for the alarm's end.
            #expect(try publisher.publish([.numbered(2, to: queue, awaitsConfirm: false)]) == [.unconfirmed])
            // Consuming goes on.
            #expect(try receive(1, from: &consumer)[0].number == 0)
            var calls = 0
            let outcomes = try publisher.publish([.numbered(3, to: queue)]) { () throws(AMQPError) in
                calls += 1
                if calls == 2 { try? broker.limitMemory(limit) }
                try consumer.serveHeartbeat()
            }
            #expect(outcomes == [.confirmed])
            #expect(calls >= 2)
            let isStillBlocked = publisher.isBlocked
            #expect(!isStillBlocked)
            // Message 1 was in the socket when the alarm came: it is stored late, not lost.
            #expect(Set(try receive(2, from: &consumer).compactMap(\.number)) == [1, 3])
            publisher.close()
            consumer.close()
        }
    }
}
