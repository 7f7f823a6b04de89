import AMQP
import Messages
import Observability
import Runtime
import Synchronization
import TestSupport
import Testing

@testable import Pipeline

/// Every place a lane can die at, on real parts: nothing is lost, nothing is done twice, every deed is announced.
@Suite(.serialized, .timeLimit(.minutes(5))) struct LaneCrashTests {
    /// All messages done exactly once, all announced under one id each, nothing left or parked.
    private func expectExactlyOnce(_ fixture: LaneFixture, _ ids: [MessageID]) throws {
        let counted = try fixture.counted()
        #expect(counted.tally == Int64(ids.count) && counted.deeds == Int64(ids.count))
        var announced: [String: Set<String>] = [:]
        for copy in try fixture.drain(fixture.observer) {
            let cause = copy.properties.headers[HeaderName.causationID]?.stringValue ?? ""
            announced[cause, default: []].insert(copy.properties.messageID ?? "")
        }
        #expect(Set(announced.keys) == Set(ids.map(\.rawValue)), "every deed is announced")
        #expect(announced.values.allSatisfy { $0.count == 1 }, "all copies of a fact have one id")
        #expect(try fixture.depth(fixture.queue.name) == 0)
        #expect(try fixture.depth(fixture.queue.parkedName) == 0)
    }

    @Test(arguments: CrashPoint.allCases)
    func `a lane that dies loses nothing and does nothing twice`(point: CrashPoint) async throws {
        let fixture = try await LaneFixture.make("crash_\(point.rawValue)")
        try await onThread {
            let ids = try fixture.publish((1...40).map(String.init))
            let crash = CrashOnce(at: point)
            let stop = StopSignal()
            let lane = fixture.lane(stop: stop, probe: crash)
            #expect(lane.join(for: .seconds(60)) && crash.isDone)
            try fixture.run { try fixture.counted().tally == 40 && fixture.depth(fixture.queue.name) == 0 }
            try expectExactlyOnce(fixture, ids)
        }
    }

    @Test(arguments: CrashPoint.allCases)
    func `what is to be parked or retried survives a death at every point (C17)`(point: CrashPoint) async throws {
        let fixture = try await LaneFixture.make("forward_\(point.rawValue)")
        try await onThread {
            // The first opens the window, so that the others are in one hand.
            try fixture.publish(["1", "park", "retry", "2", "park", "retry"])
            let crash = CrashOnce(at: point, batchOf: 3)
            let stop = StopSignal()
            let lane = fixture.lane(stop: stop, probe: crash)
            #expect(lane.join(for: .seconds(60)) && crash.isDone)
            // The ladder brings retries back after 5 s, as often as they were sent on: at least once each.
            try fixture.run {
                try fixture.counted().tally == 2 && fixture.depth(fixture.queue.name) == 0
                    && fixture.depth(fixture.queue.parkedName) >= 2 && fixture.depth("retry.5s") >= 2
            }
            let parked = try fixture.drain(fixture.queue.parkedName).compactMap(\.properties.messageID)
            let retried = try fixture.drain("retry.5s").compactMap(\.properties.messageID)
            #expect(Set(parked).count == 2 && Set(retried).count == 2)
        }
    }

    @Test func `a lane that dies with one batch unconfirmed and the next committed loses neither`() async throws {
        let fixture = try await LaneFixture.make("overlap")
        try await onThread {
            let ids = try fixture.publish((1...200).map(String.init))
            var configuration = fixture.configuration()
            // Batches of 4, so that there are many.
            configuration.prefetch = 8
            let crash = CrashBetween()
            let stop = StopSignal()
            let lane = fixture.lane(configuration, stop: stop, probe: crash)
            #expect(lane.join(for: .seconds(20)) && crash.isDone)
            try fixture.run { try fixture.counted().tally == 200 && fixture.depth(fixture.queue.name) == 0 }
            try expectExactlyOnce(fixture, ids)
        }
    }

    @Test func `a commit whose answer is lost is run again and counts once (C2, R10)`() async throws {
        let fixture = try await LaneFixture.make("ambiguous_commit")
        try await onThread {
            let proxy = try FaultyProxy(port: try fixture.database.port)
            defer { proxy.close() }
            let ids = try fixture.publish((1...20).map(String.init))
            proxy.cut(whenSeen: "COMMIT", from: .client, .whenAnswered)
            let configuration = fixture.configuration(database: proxy)
            try fixture.run(configuration) {
                try fixture.counted().tally == 20 && fixture.depth(fixture.queue.name) == 0
            }
            #expect(proxy.triggeredCuts == 1)
            try expectExactlyOnce(fixture, ids)
        }
    }

    @Test
    func `what a commit said whose answer is lost is told too, when the second run says something else (C2, R10)`()
        async throws
    {
        let fixture = try await LaneFixture.make("ambiguous_recall")
        try await onThread {
            let proxy = try FaultyProxy(port: try fixture.database.port)
            defer { proxy.close() }
            try fixture.publish(["1"])
            proxy.cut(whenSeen: "COMMIT", from: .client, .whenAnswered)
            var configuration = fixture.configuration(database: proxy)
            configuration.sweepAfterSeconds = 3_600  // no sweep comes to help
            try fixture.stage.run(configuration, handler: { FickleHandler() }) {
                try fixture.depth(fixture.queue.name) == 0 && fixture.depth(fixture.observer) == 2
            }
            #expect(proxy.triggeredCuts == 1)
            let told = Set(try fixture.drain(fixture.observer).compactMap(\.properties.messageID))
            #expect(told.count == 2, "the first run's fact and the second's")
        }
    }

    @Test func `a fact whose confirm is lost is published again under its old id (C4, R11)`() async throws {
        let fixture = try await LaneFixture.make("ambiguous_publish")
        try await onThread {
            let proxy = try FaultyProxy(port: fixture.broker.endpoint.port)
            defer { proxy.close() }
            let ids = try fixture.publish((1...20).map(String.init))
            proxy.cut(whenSeen: MessageType.purchaseHeld.rawValue, from: .client, .whenAnswered)
            try fixture.run(fixture.configuration(broker: proxy)) {
                try fixture.counted().tally == 20 && fixture.depth(fixture.queue.name) == 0
            }
            #expect(proxy.triggeredCuts == 1)
            try expectExactlyOnce(fixture, ids)
        }
    }

    @Test func `one message twice in a batch and in two lanes is done once`() async throws {
        let fixture = try await LaneFixture.make("twins")
        try await onThread {
            let ids = try fixture.publish((1...30).map(String.init), copies: 4)
            let stop = StopSignal()
            let second = fixture.lane(stop: stop)
            defer {
                stop.stop()
                _ = second.join(for: .seconds(60))
            }
            try fixture.run { try fixture.counted().deeds == 30 && fixture.depth(fixture.queue.name) == 0 }
            stop.stop()
            _ = second.join(for: .seconds(60))
            try expectExactlyOnce(fixture, ids)
        }
    }

    @Test func `a message that kills the process is parked alone, its 200 neighbours are done (R29)`() async throws {
        let fixture = try await LaneFixture.make("killer")
        try await onThread {
            let words = (1...100).map(String.init) + ["kill"] + (101...200).map(String.init)
            try fixture.publish(words)
            // The supervisor: starts the lane again each time it dies.
            var deaths = 0
            while try fixture.depth(fixture.queue.parkedName) == 0 {
                let stop = StopSignal()
                let lane = fixture.lane(stop: stop)
                try eventually(within: .seconds(60), "died, or parked it") {
                    let isDead = lane.join(for: .milliseconds(5))
                    return try isDead || fixture.depth(fixture.queue.parkedName) == 1
                }
                stop.stop()
                _ = lane.join(for: .seconds(60))
                deaths += 1
                guard deaths < 80 else { throw TestFailure("still not parked after \(deaths) deaths") }
            }
            try fixture.run { try fixture.counted().tally == 200 && fixture.depth(fixture.queue.name) == 0 }
            let parked = try fixture.drain(fixture.queue.parkedName)
            #expect(parked.count == 1)
            let message = try MessageCoding.decode(PurchaseRedriveRequested.self, from: parked.first?.body ?? [])
            #expect(message.transactionID.rawValue == "kill")
        }
    }

    @Test func `facts of a commit whose message was purged are published by the sweep (C3, R25)`() async throws {
        let fixture = try await LaneFixture.make("sweep")
        try await onThread {
            let ids = try fixture.publish((1...5).map(String.init))
            let stop = StopSignal()
            // Prefetch 1 at first: the first batch holds one message.
            let lane = fixture.lane(stop: stop, probe: CrashOnce(at: .afterCommit))
            #expect(lane.join(for: .seconds(60)))
            try eventually("all are back in the queue") { try fixture.depth(fixture.queue.name) == ids.count }
            try fixture.broker.control("purge_queue", "-p", fixture.broker.virtualHost, fixture.queue.name)
            let done = try fixture.counted().deeds
            #expect(done >= 1)
            #expect(try fixture.depth(fixture.observer) == 0, "the crash came before anything was published")
            var configuration = fixture.configuration()
            configuration.sweepAfterSeconds = 0
            configuration.sweepInterval = .milliseconds(50)
            try fixture.run(configuration) { try fixture.depth(fixture.observer) >= Int(done) }
            let announced = try fixture.drain(fixture.observer)
            #expect(Set(announced.compactMap(\.properties.messageID)).count == Int(done))
        }
    }

    @Test func `while nobody can be told, how long that lasts is told to operators (R25)`() async throws {
        let fixture = try await LaneFixture.make("untold")
        try await onThread {
            try fixture.publish(["1"])
            let stop = StopSignal()
            let dead = fixture.lane(stop: stop, probe: CrashOnce(at: .afterCommit))
            #expect(dead.join(for: .seconds(60)))
            try eventually("it is back in the queue") { try fixture.depth(fixture.queue.name) == 1 }
            try fixture.broker.control("purge_queue", "-p", fixture.broker.virtualHost, fixture.queue.name)
            try fixture.database.execute(
                "UPDATE granting.unannounced SET created_at = created_at - interval '10 minutes'")
            // Nothing takes what the lane says.
            for queue in [fixture.observer, Topology.factsStream] { try fixture.broker.deleteQueue(queue) }
            var configuration = fixture.configuration()
            configuration.sweepInterval = .milliseconds(50)
            let metrics = Metrics()
            let lane = fixture.lane(configuration, stop: stop, metrics: metrics)
            defer {
                stop.stop()
                _ = lane.join(for: .seconds(60))
            }
            func age() -> Double {
                metrics.gauge(
                    "purser_lane_unannounced_age_seconds",
                    help: "Age of the oldest batch that was committed and not announced, at the sweep's last look.",
                    labels: ["queue": fixture.queue.name]
                ).value
            }
            try eventually("it is known how long") { age() >= 600 && age() < 700 }
            try fixture.broker.declareQueue(fixture.observer, kind: .classic)
            try fixture.broker.declareQueue(Topology.factsStream, kind: .stream)
            for queue in [fixture.observer, Topology.factsStream] {
                try fixture.broker.bindQueue(
                    queue, exchange: Topology.exchange(of: "granting"),
                    routingKey: MessageType.purchaseHeld.rawValue)
            }
            try eventually(within: .seconds(60), "it is told") { age() == 0 }
            #expect(try fixture.depth(fixture.observer) >= 1)
        }
    }
}

/// Crashes the lane the first time a batch is committed while the one before is not acknowledged yet.
private final class CrashBetween: LaneProbe {
    private let state = Mutex((open: 0, isDone: false))

    var isDone: Bool { state.withLock { $0.isDone } }

    func reached(_ point: CrashPoint, batch: [MessageID]) throws {
        let crashes = state.withLock { state in
            switch point {
            case .afterCommit: state.open += 1
            case .beforeAck: state.open -= 1
            case .beforeCommit, .afterPublish: break
            }
            guard state.open == 2, !state.isDone else { return false }
            state.isDone = true
            return true
        }
        if crashes { throw SimulatedCrash(at: point) }
    }
}
