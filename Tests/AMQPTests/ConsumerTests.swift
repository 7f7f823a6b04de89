import AMQP
import TestSupport
import Testing

/// Against a real broker.
@Suite(.timeLimit(.minutes(5))) struct ConsumerTests {
    @Test func `the broker sends no more than the prefetch ahead of acknowledgements`() async throws {
        let broker = try await BrokerFixture.shared()
        try await onThread {
            let queue = try broker.freshQueue()
            try broker.fill(queue, count: 10)
            var consumer = try Consumer.open(broker.endpoint, connectionName: "test", queue: queue, prefetch: 3)
            let first = try receive(3, from: &consumer)
            #expect(first.map(\.number) == [0, 1, 2])
            #expect(try consumer.receive(max: 10, wait: .milliseconds(100)).isEmpty)
            try consumer.acknowledge(first[1].tag)
            #expect(try receive(1, from: &consumer).map(\.number) == [3])
            try consumer.acknowledge(upTo: first[2].tag)
            #expect(try receive(2, from: &consumer).map(\.number) == [4, 5])
            consumer.close()
        }
    }

    @Test func `a slow start takes one message, then the whole window`() async throws {
        let broker = try await BrokerFixture.shared()
        try await onThread {
            let queue = try broker.freshQueue()
            try broker.fill(queue, count: 10)
            var consumer = try Consumer.open(broker.endpoint, connectionName: "test", queue: queue, prefetch: 1)
            let first = try receive(1, from: &consumer)
            #expect(try consumer.receive(max: 10, wait: .milliseconds(50)).isEmpty)
            try consumer.consumeAnew(prefetch: 64)
            #expect(consumer.prefetch == 64)
            let rest = try receive(9, from: &consumer)
            #expect(rest.map(\.number) == Array(1...9))
            #expect(rest.allSatisfy { !$0.isRedelivered })
            // A message of before the change is acknowledged like any other.
            try consumer.acknowledge(upTo: first[0].tag)
            for delivery in rest { try consumer.acknowledge(delivery.tag) }
            consumer.close()
            #expect(try broker.messageCount(queue) == 0)
        }
    }

    @Test func `what was not acknowledged on a dropped connection comes again and says so, and old tags are refused`()
        async throws
    {
        let broker = try await BrokerFixture.shared()
        try await onThread {
            let queue = try broker.freshQueue()
            try broker.fill(queue, count: 2)
            let proxy = try broker.makeProxy()
            defer { proxy.close() }
            var consumer = try Consumer.open(
                broker.endpoint(through: proxy), connectionName: "test", queue: queue, prefetch: 10)
            let before = try receive(2, from: &consumer)
            try consumer.acknowledge(before[0].tag)
            try eventually { try broker.messageCount(queue) == 0 }
            // An acknowledgement has no answer: the inspector's look on another connection does not prove it was read,
            // so wait until the broker has handled something after it on the same connection.
            try consumer.consumeAnew(prefetch: 10)
            proxy.cut()
            let error = amqpError { while true { _ = try consumer.receive(max: 1, wait: .seconds(1)) } }
            #expect(error?.code == "amqp.connection_lost")
            var next = try Consumer.open(
                broker.endpoint(through: proxy), connectionName: "test", queue: queue, prefetch: 10)
            let again = try receive(1, from: &next)
            #expect(again[0].number == 1)
            #expect(again[0].isRedelivered)
            #expect(again[0].properties.headers["x-delivery-count"] == 1)
            #expect(amqpError { try next.acknowledge(before[1].tag) } == .foreignDeliveryTag)
            #expect(amqpError { try next.acknowledge(upTo: before[1].tag) } == .foreignDeliveryTag)
            try next.acknowledge(again[0].tag)
            next.close()
        }
    }

    @Test func `deleting the queue ends the subscription with an error, at once`() async throws {
        let broker = try await BrokerFixture.shared()
        try await onThread {
            let queue = try broker.freshQueue()
            var consumer = try Consumer.open(broker.endpoint, connectionName: "test", queue: queue, prefetch: 10)
            try broker.deleteQueue(queue)
            let error = amqpError { _ = try consumer.receive(max: 1, wait: .seconds(60)) }
            #expect(error == .consumerCancelled(queue: queue))
            #expect(amqpError { try consumer.serveHeartbeat() } == .consumerCancelled(queue: queue))
            consumer.close()
        }
    }

    @Test func `a queue that does not exist closes the channel`() async throws {
        let broker = try await BrokerFixture.shared()
        try await onThread {
            let error = amqpError {
                _ = try Consumer.open(broker.endpoint, connectionName: "test", queue: "no-such-queue", prefetch: 1)
            }
            guard case .channelClosed(404, _) = error else {
                Issue.record("not 404: \(String(describing: error))")
                return
            }
        }
    }

    @Test func `acknowledging twice is seen at the next call, not never`() async throws {
        let broker = try await BrokerFixture.shared()
        try await onThread {
            let queue = try broker.freshQueue()
            try broker.fill(queue, count: 1)
            var consumer = try Consumer.open(broker.endpoint, connectionName: "test", queue: queue, prefetch: 10)
            let tag = try receive(1, from: &consumer)[0].tag
            try consumer.acknowledge(tag)
            try consumer.acknowledge(tag)
            let error = amqpError { while true { _ = try consumer.receive(max: 1, wait: .seconds(1)) } }
            guard case .channelClosed(406, _) = error else {
                Issue.record("not 406: \(String(describing: error))")
                return
            }
        }
    }

    @Test func `answers come through an exclusive queue that is gone with its connection`() async throws {
        let broker = try await BrokerFixture.shared()
        try await onThread {
            let exchange = BrokerFixture.uniqueName("replies")
            let key = BrokerFixture.uniqueName("gateway")
            try broker.declareExchange(exchange, kind: "direct")
            var consumer = try Consumer.open(
                broker.endpoint, connectionName: "test", queue: key, prefetch: 10,
                setUp: .exclusiveReplyQueue(name: key, exchange: exchange, routingKey: key))
            let answer = OutgoingMessage(exchange: exchange, routingKey: key, isMandatory: false, body: [1])
            #expect(try broker.publish([answer]) == [.confirmed])
            #expect(try receive(1, from: &consumer)[0].body == [1])
            // Slow starts do not destroy it.
            try consumer.consumeAnew(prefetch: 20)
            #expect(try broker.publish([answer]) == [.confirmed])
            #expect(try receive(1, from: &consumer)[0].routingKey == key)
            consumer.close()
            try eventually { try broker.messageCount(key) == nil }
        }
    }

    @Test func `serving heartbeats keeps what arrived for the next receive`() async throws {
        let broker = try await BrokerFixture.shared()
        try await onThread {
            let queue = try broker.freshQueue()
            var consumer = try Consumer.open(broker.endpoint, connectionName: "test", queue: queue, prefetch: 10)
            try broker.fill(queue, count: 5)
            try eventually { try broker.messageCount(queue) == 0 }
            try consumer.serveHeartbeat()
            #expect(try receive(5, from: &consumer).map(\.number) == Array(0..<5))
            consumer.cancel()
            #expect(try consumer.receive(max: 1, wait: .milliseconds(10)).isEmpty)
            consumer.close()
            try eventually { try broker.messageCount(queue) == 5 }
        }
    }

    @Test func `a stream is read by offset, again and again, with acknowledgements only`() async throws {
        let broker = try await BrokerFixture.shared()
        try await onThread {
            let queue = try broker.freshQueue("stream", kind: .stream)
            try broker.fill(queue, count: 20)
            for (offset, expected) in [("first" as AMQPHeaderValue, 0), (12, 12)] {
                var consumer = try Consumer.open(
                    broker.endpoint, connectionName: "test", queue: queue, prefetch: 5,
                    arguments: ["x-stream-offset": offset])
                var numbers: [Int] = []
                while numbers.last != 19 {
                    for delivery in try receive(1, from: &consumer) {
                        let place = try #require(delivery.properties.headers["x-stream-offset"]?.int64Value)
                        #expect(delivery.number == Int(place))
                        // A stream hands out whole chunks: what lies before the offset is skipped by the reader.
                        if Int(place) >= expected { numbers.append(Int(place)) }
                        try consumer.acknowledge(upTo: delivery.tag)
                    }
                }
                #expect(numbers == Array(expected..<20))
                consumer.close()
            }
        }
    }

    @Test func `an inspector counts messages and consumers, and misses nothing by asking for what is not there`()
        async throws
    {
        let broker = try await BrokerFixture.shared()
        try await onThread {
            let queue = try broker.freshQueue()
            try broker.fill(queue, count: 3)
            var inspector = try Inspector.open(broker.endpoint, connectionName: "test")
            #expect(try inspector.queue("no-such-queue") == nil)
            try eventually { try inspector.queue(queue)?.messages == 3 }
            #expect(try inspector.queue(queue)?.consumers == 0)
            #expect(try inspector.hasExchange("amq.topic"))
            #expect(try !inspector.hasExchange("no-such-exchange"))
            var consumer = try Consumer.open(broker.endpoint, connectionName: "test", queue: queue, prefetch: 1)
            try eventually { try inspector.queue(queue)?.consumers == 1 }
            consumer.close()
            inspector.close()
        }
    }

    @Test func `the history of a dead letter is read, and what is not understood in it is skipped`() async throws {
        let broker = try await BrokerFixture.shared()
        try await onThread {
            let parked = try broker.freshQueue("parked")
            let queue = try broker.freshQueue(
                kind: .classic,
                arguments: [
                    "x-message-ttl": 1, "x-dead-letter-exchange": "", "x-dead-letter-routing-key": .string(parked),
                ])
            try broker.fill(queue, count: 1)
            var consumer = try Consumer.open(broker.endpoint, connectionName: "test", queue: parked, prefetch: 1)
            let headers = try receive(1, from: &consumer)[0].properties.headers
            let death = try #require(headers["x-death"]?.arrayValue?.first?.tableValue)
            #expect(death["count"] == 1)
            #expect(death["reason"] == "expired")
            #expect(death["queue"] == .string(queue))
            #expect(death["routing-keys"] == .array([.string(queue)]))
            // A timestamp: no kind of ours.
            #expect(death["time"] == nil)
            consumer.close()
        }
    }

    @Test func `a connection closed by the operator ends publisher and consumer with the broker's words`() async throws
    {
        let broker = try await TestBroker.shared("amqp-closing")
        try await onThread {
            let queue = try broker.freshQueue()
            var consumer = try Consumer.open(broker.endpoint, connectionName: "test", queue: queue, prefetch: 1)
            var publisher = try Publisher.open(broker.endpoint, connectionName: "test")
            try broker.control("close_all_connections", "--vhost", broker.virtualHost, "maintenance")
            let consumerError = amqpError { while true { _ = try consumer.receive(max: 1, wait: .seconds(1)) } }
            #expect(consumerError == .connectionClosed(code: 320, text: "CONNECTION_FORCED - maintenance"))
            let publisherError = amqpError { while true { try publisher.serveHeartbeat() } }
            #expect(publisherError == .connectionClosed(code: 320, text: "CONNECTION_FORCED - maintenance"))
            #expect(publisherError?.isRetryable == true)
        }
    }
}
