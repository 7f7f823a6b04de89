import AMQP
import HTTPServer
import JSON
import Messages
import Observability
import Pipeline
import Runtime
import TestSupport
import Testing

@testable import Gateway

/// The door with the real requester, against the real broker with the real topology, and without one.
@Suite(.serialized, .timeLimit(.minutes(5))) struct BrokerTests {
    /// Answers what arrives on `queue`, as its lane would.
    private static func stand(
        in queue: Topology.Queue, at broker: AMQPEndpoint, until stop: StopSignal,
        answer: @escaping @Sendable (Delivery) throws -> (type: MessageType, body: [UInt8])
    ) async throws -> [Delivery] {
        try await onThread {
            var consumer = try Consumer.open(broker, connectionName: "test lane", queue: queue.name, prefetch: 16)
            var publisher = try Publisher.open(broker, connectionName: "test answers")
            var seen: [Delivery] = []
            while !stop.isStopped {
                for delivery in try consumer.receive(max: 16, wait: .milliseconds(20)) {
                    let (type, body) = try answer(delivery)
                    let properties = MessageProperties(
                        type: type.rawValue, correlationID: delivery.properties.correlationID)
                    _ = try publisher.publish([
                        OutgoingMessage(
                            exchange: Topology.replies, routingKey: delivery.properties.replyTo ?? "",
                            properties: properties, body: body)
                    ])
                    try consumer.acknowledge(delivery.tag)
                    seen.append(delivery)
                }
            }
            consumer.close()
            publisher.close()
            return seen
        }
    }

    @Test func `calls travel over the broker under the request's id and come back`() async throws {
        let broker = try await TestBroker.shared("gateway")
        try await onThread {
            let definitions = try Topology.definitions(virtualHost: broker.virtualHost, passwordHashes: [:])
            try broker.importDefinitions(String(decoding: definitions, as: UTF8.self))
        }
        let stop = StopSignal()
        let requester = Requester.start(user: "gateway", broker: broker.endpoint, logger: .silent)
        async let purchases = Self.stand(in: Topology.verificationPurchases, at: broker.endpoint, until: stop) { _ in
            (.purchaseAnswered, try MessageCoding.encode(Samples.granted))
        }
        async let spends = Self.stand(in: Topology.grantingWallet, at: broker.endpoint, until: stop) { _ in
            (.requestParked, try MessageCoding.encode(RequestParked(reason: "test")))
        }
        try await eventually("the requester is ready") { () async in requester.isReady }
        let door = try TestDoor(asker: requester)

        let verified = try await door.send("POST", "/api/iap/apple/verify", body: Samples.verifyBody)
        #expect(verified.status == 200)
        #expect(try verified.json["status"] == "GRANTED")
        let order = try await door.send("POST", "/api/iap/orders", body: #"{"appleProductId":"a"}"#)
        #expect(order.code == "UNDER_REVIEW")

        stop.stop()
        let arrived = try await purchases
        #expect(arrived.count == 1)
        #expect(arrived.first?.properties.correlationID == verified.header("X-Request-Id"))
        #expect(arrived.first?.properties.isPersistent == true)
        #expect(try await spends.count == 1)
        try await onThread { () throws in requester.shutDown(within: .seconds(30)) }
    }

    @Test func `without a broker every call is refused at once (S42)`() async throws {
        // Nothing listens on port 1.
        let nowhere = try AMQPEndpoint(url: "amqp://gateway:none@127.0.0.1:1")
        let requester = Requester.start(user: "gateway", broker: nowhere, logger: .silent)
        let door = try TestDoor(asker: requester)
        let start = ContinuousClock.now
        for route in AuthenticationTests.routes {
            let response = try await door.send(
                route.method, route.path, body: route.body, token: try TestTokens.make("clouds", route.kind))
            #expect(response.status == 503)
            #expect(response.code == "SERVICE_BUSY")
            #expect(response.header("Retry-After") == "1")
        }
        let patience = GatewayPatience.answer * AuthenticationTests.routes.count
        #expect(ContinuousClock.now - start < patience, "not each waited for an answer")
        try await onThread { () throws in requester.shutDown(within: .seconds(30)) }
    }
}
