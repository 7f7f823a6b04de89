import AMQP
import Messages
import Observability
import Runtime
import TestSupport
import Testing

@testable import Pipeline

/// What becomes of messages that cannot be done, and of their neighbours.
@Suite(.serialized, .timeLimit(.minutes(5))) struct LaneOutcomeTests {
    @Test func `a row the database rejects among 64 is parked alone with its reason (R26)`() async throws {
        let fixture = try await LaneFixture.make("rejected")
        try await onThread {
            try fixture.publish((1...40).map(String.init) + ["reject"] + (41...63).map(String.init))
            try fixture.run {
                try fixture.counted().tally == 63 && fixture.depth(fixture.queue.parkedName) == 1
                    && fixture.depth(fixture.queue.name) == 0
            }
            let parked = try fixture.drain(fixture.queue.parkedName)
            let reason = parked.first?.properties.headers[HeaderName.reason]?.stringValue ?? ""
            #expect(reason.contains("23514") && reason.contains("deeds_word_check"), "\(reason)")
        }
    }

    @Test func `what is no message is parked with the reason, neighbours are done (R08)`() async throws {
        let fixture = try await LaneFixture.make("malformed")
        try await onThread {
            var broken: [OutgoingMessage] = []
            for change in Self.malformed {
                var message = try fixture.message("1")
                change.apply(&message)
                broken.append(message)
            }
            var publisher = try Publisher.open(fixture.broker.endpoint, connectionName: "test")
            try fixture.publish(["1", "2"])
            _ = try publisher.publish(broken)
            publisher.close()
            try fixture.publish(["3"])
            try fixture.run {
                try fixture.counted().tally == 3 && fixture.depth(fixture.queue.parkedName) == broken.count
            }
            let reasons = try fixture.drain(fixture.queue.parkedName).map {
                $0.properties.headers[HeaderName.reason]?.stringValue ?? ""
            }
            #expect(reasons.sorted() == Self.malformed.map(\.reason).sorted())
        }
    }

    private struct Malformed: Sendable {
        let reason: String
        let apply: @Sendable (inout OutgoingMessage) -> Void
    }

    private static let malformed: [Malformed] = [
        Malformed(reason: "message.id_missing") { $0.properties.messageID = nil },
        Malformed(reason: "message.id_missing") { $0.properties.messageID = "not-a-uuid" },
        Malformed(reason: "message.type_missing") { $0.properties.type = nil },
        Malformed(reason: "message.type_unexpected") { $0.properties.type = "purchase.verified" },
        Malformed(reason: "message.version_unknown") { $0.properties.headers = [:] },
        Malformed(reason: "message.environment_unknown") { $0.properties.headers["environment"] = "Xcode" },
        Malformed(reason: Incoming.unreadable) { $0.properties.headers["schema-version"] = 7 },
        Malformed(reason: Incoming.unreadable) { $0.body = Array("garbage".utf8) },
        Malformed(reason: Incoming.unreadable) { $0.body = [UInt8](repeating: 0xFF, count: 200_000) },
    ]

    @Test func `a retried message comes back to its one queue after its delay, and is parked after twelve`()
        async throws
    {
        let fixture = try await LaneFixture.make("retried")
        try await onThread {
            let began = ContinuousClock.now
            try fixture.publish(["retry"])
            let metrics = Metrics()
            let stop = StopSignal()
            let lane = fixture.lane(stop: stop, metrics: metrics)
            defer {
                stop.stop()
                _ = lane.join(for: .seconds(60))
            }
            let deliveries = metrics.counter(
                "purser_lane_deliveries_total", help: "Messages taken.", labels: ["queue": fixture.queue.name])
            try eventually(within: .seconds(60), "it was delivered twice") { deliveries.value == 2 }
            #expect(began.duration(to: .now) >= .seconds(5))
        }
        #expect(RetryPolicy.next(.minutes5, attempt: 11, isOutage: false) == .minutes5)
        #expect(RetryPolicy.next(.minutes5, attempt: 12, isOutage: false) == nil)
        #expect(RetryPolicy.next(.minutes5, attempt: 12, isOutage: true) == .hour1)
    }

    @Test func `parking and retrying strip the broker's own headers (BR15)`() throws {
        let delivery = Delivery(
            tag: 1, exchange: "purser", routingKey: "k", isRedelivered: true,
            properties: MessageProperties(
                messageID: "m",
                headers: [
                    "x-death": .array([.table(["reason": "delivery_limit"])]), "x-first-death-queue": "q",
                    "x-delivery-count": 3, "app": "a",
                ]), body: [])
        let message = Envelope.forward(delivery, exchange: "purser.retry", routingKey: "5s.q", reason: "r", attempt: 2)
        #expect(
            Set(message.properties.headers.keys) == [
                "app", HeaderName.attempt, HeaderName.reason, HeaderName.originalRoutingKey,
            ])
        #expect(message.isMandatory && message.awaitsConfirm && message.properties.isPersistent)
    }

    @Test func `an absurd count of attempts can be counted further`() throws {
        var properties = MessageProperties(
            messageID: UUIDText.random(), type: MessageType.purchaseSubmitted.rawValue,
            headers: [HeaderName.schemaVersion: 1, HeaderName.attempt: .int64(.max)])
        func attempt() throws -> Int {
            let delivery = Delivery(
                tag: 1, exchange: "purser.from.gateway", routingKey: "purchase.submitted", isRedelivered: false,
                properties: properties, body: [])
            return try Envelope.read(delivery, from: Topology.verificationPurchases).get().header.attempt
        }
        #expect(try attempt() < .max)
        properties.headers[HeaderName.attempt] = .int64(.min)
        #expect(try attempt() == 0)
    }

    @Test func `a gateway that vanished before the reply changes nothing`() async throws {
        let fixture = try await LaneFixture.make("vanished")
        try await onThread {
            try fixture.publish(["1", "2", "3"], replyTo: "gateway.replies.gone")
            try fixture.run { try fixture.counted().tally == 3 && fixture.depth(fixture.queue.name) == 0 }
            #expect(try fixture.depth(fixture.queue.parkedName) == 0)
        }
    }

    @Test func `while the database is away a batch waits and nothing is parked (R05)`() async throws {
        let fixture = try await LaneFixture.make("database_away")
        try await onThread {
            let proxy = try FaultyProxy(port: try fixture.database.port)
            defer { proxy.close() }
            let configuration = fixture.configuration(database: proxy)
            let metrics = Metrics()
            let stop = StopSignal()
            let lane = fixture.lane(configuration, stop: stop, metrics: metrics)
            defer {
                stop.stop()
                _ = lane.join(for: .seconds(60))
            }
            try eventually("the lane works") { lane.isReady }
            proxy.refuse()
            proxy.cut()
            try fixture.publish((1...10).map(String.init))
            let waits = metrics.counter(
                "purser_lane_database_waits_total", help: "Times a batch waited for the database.",
                labels: ["queue": fixture.queue.name])
            try eventually("a batch waits, and the lane says so") { waits.value > 0 && !lane.isReady }
            #expect(try fixture.depth(fixture.queue.parkedName) == 0)
            proxy.pass()
            try eventually(within: .seconds(60), "all are done") {
                try fixture.counted().tally == 10 && fixture.depth(fixture.queue.name) == 0 && lane.isReady
            }
            #expect(try fixture.depth(fixture.queue.parkedName) == 0)
        }
    }

    @Test func `an idle lane notices that the database went away, and sweeps when it is back (R25)`() async throws {
        let fixture = try await LaneFixture.make("idle_outage")
        try await onThread {
            let proxy = try FaultyProxy(port: try fixture.database.port)
            defer { proxy.close() }
            // A batch that was committed and never announced, and no message that would come back for it.
            try fixture.publish(["1"])
            let dead = fixture.lane(stop: StopSignal(), probe: CrashOnce(at: .afterCommit))
            #expect(dead.join(for: .seconds(60)))
            try eventually("back in the queue") { try fixture.depth(fixture.queue.name) == 1 }
            try fixture.broker.control("purge_queue", "-p", fixture.broker.virtualHost, fixture.queue.name)
            var configuration = fixture.configuration(database: proxy)
            configuration.sweepInterval = .milliseconds(50)
            // Nothing is old enough to be swept before the outage.
            configuration.sweepAfterSeconds = 5
            let stop = StopSignal()
            let lane = fixture.lane(configuration, stop: stop)
            defer {
                stop.stop()
                _ = lane.join(for: .seconds(60))
            }
            try eventually("the lane works") { lane.isReady }
            proxy.refuse()
            proxy.cut()
            try eventually("the idle lane says that it does not work") { !lane.isReady }
            proxy.pass()
            try eventually(within: .seconds(60), "it works again without a message") { lane.isReady }
            try eventually(within: .seconds(60), "the fact is announced") { try fixture.depth(fixture.observer) >= 1 }
        }
    }

    @Test func `a fact no queue takes holds its message back until the topology is mended (C6)`() async throws {
        let fixture = try await LaneFixture.make("unroutable")
        try await onThread {
            var inspector = try Inspector.open(fixture.broker.endpoint, connectionName: "test")
            defer { inspector.close() }
            try inspector.deleteQueue(Topology.factsStream)
            try inspector.deleteQueue(fixture.observer)
            try fixture.publish(["1"])
            let stop = StopSignal()
            let lane = fixture.lane(stop: stop)
            defer {
                stop.stop()
                _ = lane.join(for: .seconds(60))
            }
            try eventually("committed, but not ready") { try fixture.counted().tally == 1 && !lane.isReady }
            let definitions = try Topology.definitions(
                virtualHost: fixture.broker.virtualHost, passwordHashes: [:])
            try fixture.broker.importDefinitions(String(decoding: definitions, as: UTF8.self))
            try eventually(within: .seconds(60), "ready again") { lane.isReady }
            #expect(try fixture.counted().tally == 1)
        }
    }
}
