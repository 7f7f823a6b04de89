import AMQP
import Observability
import TestSupport
import Testing

/// Against a real broker.
@Suite(.timeLimit(.minutes(5))) struct PublisherTests {
    @Test func `two thousand messages are confirmed, in order in their queue, far faster than one by one`() async throws
    {
        let broker = try await BrokerFixture.shared()
        try await onThread {
            let queue = try broker.freshQueue()
            var publisher = try Publisher.open(broker.endpoint, connectionName: "test")
            let outcomes = try publisher.publish((0..<2_000).map { .numbered($0, to: queue) })
            #expect(outcomes == Array(repeating: .confirmed, count: 2_000))
            #expect(publisher.statistics.confirmed == 2_000)
            #expect(publisher.statistics.rounds == 1)
            #expect(try broker.messageCount(queue) == 2_000)
            var consumer = try Consumer.open(broker.endpoint, connectionName: "test", queue: queue, prefetch: 500)
            var numbers: [Int?] = []
            while numbers.count < 2_000 {
                let batch = try receive(min(500, 2_000 - numbers.count), from: &consumer)
                numbers += batch.map(\.number)
                if let last = batch.last { try consumer.acknowledge(upTo: last.tag) }
            }
            #expect(numbers == (0..<2_000).map { $0 })
            consumer.close()
            publisher.close()
        }
    }

    @Test func `a mandatory message without a queue comes back, its neighbours are confirmed`() async throws {
        let broker = try await BrokerFixture.shared()
        try await onThread {
            let queue = try broker.freshQueue()
            var publisher = try Publisher.open(broker.endpoint, connectionName: "test")
            var lost = OutgoingMessage.numbered(1, to: "no-such-queue")
            lost.properties.messageID = "lost"
            let outcomes = try publisher.publish([.numbered(0, to: queue), lost, .numbered(2, to: queue)])
            #expect(outcomes == [.confirmed, .returned(code: 312, text: "NO_ROUTE"), .confirmed])
            // Not mandatory: the broker confirms and drops it.
            lost.isMandatory = false
            #expect(try publisher.publish([lost]) == [.confirmed])
            publisher.close()
        }
    }

    @Test func `a message rejected by a full queue is published again until there is room`() async throws {
        let broker = try await BrokerFixture.shared()
        try await onThread {
            let queue = try broker.freshQueue(
                kind: .classic, arguments: ["x-max-length": 1, "x-overflow": "reject-publish"])
            try broker.fill(queue, count: 1)
            var publisher = try Publisher.open(broker.endpoint, connectionName: "test")
            let impatient = try publisher.publish([.numbered(1, to: queue)], patience: .seconds(3))
            #expect(impatient == [.unconfirmed])
            #expect(publisher.statistics.rejected > 0)
            var consumer = try Consumer.open(broker.endpoint, connectionName: "test", queue: queue, prefetch: 10)
            var drained: [Delivery] = []
            var failure: AMQPError?
            // The queue is drained from inside the wait, so the publisher must call back while it is rejected.
            let outcomes = try publisher.publish((2..<5).map { .numbered($0, to: queue) }) {
                do throws(AMQPError) {
                    let batch = try consumer.receive(max: 10, wait: .milliseconds(1))
                    drained += batch
                    if let last = batch.last { try consumer.acknowledge(upTo: last.tag) }
                } catch { failure = error }
            }
            #expect(failure == nil)
            #expect(outcomes == [.confirmed, .confirmed, .confirmed])
            #expect(publisher.statistics.rejected > 1)
            publisher.close()
            consumer.close()
        }
    }

    @Test func `messages that await no confirm do not hold back the return`() async throws {
        let broker = try await BrokerFixture.shared()
        try await onThread {
            let queue = try broker.freshQueue()
            let proxy = try broker.makeProxy()
            defer { proxy.close() }
            var publisher = try Publisher.open(broker.endpoint(through: proxy), connectionName: "test")
            proxy.stall()
            let messages = (0..<10).map { OutgoingMessage.numbered($0, to: queue, awaitsConfirm: false) }
            #expect(try publisher.publish(messages) == Array(repeating: .unconfirmed, count: 10))
            proxy.pass()
            #expect(try publisher.publish([.numbered(10, to: queue)]) == [.confirmed])
            #expect(try broker.messageCount(queue) == 11)
            publisher.close()
        }
    }

    @Test func `what the caller throws while waiting ends the wait, and the publisher stays usable`() async throws {
        let broker = try await BrokerFixture.shared()
        try await onThread {
            let queue = try broker.freshQueue()
            let proxy = try broker.makeProxy()
            defer { proxy.close() }
            var publisher = try Publisher.open(broker.endpoint(through: proxy), connectionName: "test")
            proxy.stall()
            let error = amqpError {
                _ = try publisher.publish([.numbered(0, to: queue)]) { () throws(AMQPError) in throw .closed }
            }
            #expect(error == .closed)
            proxy.pass()
            #expect(try publisher.publish([.numbered(1, to: queue)]) == [.confirmed])
            publisher.close()
        }
    }

    @Test func `a connection cut before the confirm arrives leaves the message stored and the publisher not knowing`()
        async throws
    {
        let broker = try await BrokerFixture.shared()
        try await onThread {
            let queue = try broker.freshQueue()
            let proxy = try broker.makeProxy()
            defer { proxy.close() }
            var publisher = try Publisher.open(broker.endpoint(through: proxy), connectionName: "test")
            proxy.cut(whenSeen: queue, from: .client)
            let error = amqpError { _ = try publisher.publish([.numbered(0, to: queue)]) }
            #expect(error?.code == "amqp.connection_lost")
            #expect(error?.isRetryable == true)
            #expect(proxy.triggeredCuts == 1)
            #expect(amqpError { _ = try publisher.publish([.numbered(0, to: queue)]) } == .closed)
            var next = try Publisher.open(broker.endpoint(through: proxy), connectionName: "test")
            #expect(try next.publish([.numbered(0, to: queue)]) == [.confirmed])
            try eventually { try broker.messageCount(queue) == 2 }
            next.close()
        }
    }

    @Test(arguments: [0, 1, 65_536, 131_063, 131_064, 131_065, 300_000, 1_048_576])
    func `a body of any size arrives whole`(_ size: Int) async throws {
        let broker = try await BrokerFixture.shared()
        try await onThread {
            let queue = try broker.freshQueue()
            let body = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 8) }
            let message = OutgoingMessage(
                exchange: "", routingKey: queue, properties: .init(messageID: "m"), body: body)
            #expect(try broker.publish([message, message]) == [.confirmed, .confirmed])
            var consumer = try Consumer.open(broker.endpoint, connectionName: "test", queue: queue, prefetch: 10)
            #expect(try receive(2, from: &consumer).allSatisfy { $0.body == body })
            consumer.close()
        }
    }

    @Test func `properties and headers arrive as they were sent`() async throws {
        let broker = try await BrokerFixture.shared()
        try await onThread {
            let queue = try broker.freshQueue()
            let properties = MessageProperties(
                messageID: "id", type: "purchase.submitted", correlationID: "correlation", replyTo: "answers",
                contentType: "application/json", appID: "purser", timestamp: 1_800_000_000, expiration: "60000",
                isPersistent: true,
                headers: [
                    "text": "ä€🙂", "empty": "", "number": 9_007_199_254_740_993, "negative": -1, "true": true,
                    "false": false, "table": ["inner": ["deep": 1]], "list": .array(["a", 2, true, .array([])]),
                    "none": .table([:]),
                ])
            _ = try broker.publish([.init(exchange: "", routingKey: queue, properties: properties, body: [1])])
            var consumer = try Consumer.open(broker.endpoint, connectionName: "test", queue: queue, prefetch: 10)
            let delivery = try #require(receive(1, from: &consumer).first)
            #expect(delivery.properties == properties)
            #expect(delivery.exchange == "")
            #expect(delivery.routingKey == queue)
            #expect(!delivery.isRedelivered)
            consumer.close()
        }
    }

    @Test func `an exchange that does not exist closes the channel and says so`() async throws {
        let broker = try await BrokerFixture.shared()
        try await onThread {
            var publisher = try Publisher.open(broker.endpoint, connectionName: "test")
            let error = amqpError {
                _ = try publisher.publish([.init(exchange: "no-such-exchange", routingKey: "k", body: [])])
            }
            #expect(error?.code == "amqp.channel_closed")
            guard case .channelClosed(404, _) = error else {
                Issue.record("not 404")
                return
            }
        }
    }

    @Test func `a wrong password and a virtual host that does not exist are refused`() async throws {
        let broker = try await BrokerFixture.shared()
        try await onThread {
            var endpoint = broker.endpoint
            endpoint.password = .init("wrong")
            #expect(
                amqpError { _ = try Publisher.open(endpoint, connectionName: "test") }?.code == "amqp.access_refused")
            let elsewhere = broker.endpoint.with(virtualHost: "no-such-host")
            #expect(
                amqpError { _ = try Publisher.open(elsewhere, connectionName: "test") }?.code == "amqp.access_refused")
        }
    }

    @Test func `a port where nobody listens is a failed connection`() async throws {
        let broker = try await BrokerFixture.shared()
        try await onThread {
            let proxy = try broker.makeProxy()
            let endpoint = broker.endpoint(through: proxy)
            proxy.refuse()
            let error = amqpError { _ = try Publisher.open(endpoint, connectionName: "test") }
            #expect(error?.code == "amqp.connection_failed")
            proxy.close()
        }
    }

    @Test func `TLS is refused where its files are missing or the broker does not speak it`() async throws {
        let broker = try await BrokerFixture.shared()
        try await onThread {
            var endpoint = broker.endpoint
            endpoint.tls = .init(authorityFile: "/no/such/file")
            let missing = amqpError { _ = try Publisher.open(endpoint, connectionName: "test") }
            #expect(missing?.code == "amqp.invalid_tls_options")
            #expect(missing?.isRetryable == false)
            endpoint.tls = .init()
            let plain = amqpError { _ = try Publisher.open(endpoint, connectionName: "test") }
            #expect(plain?.code == "amqp.connection_failed")
        }
    }
}
