public import AMQP
public import Messages
public import Pipeline
import Runtime

/// Breaking a lane in every possible way.
extension LaneStage {
    /// Publishes `messages`, lets the fault happen to the lane, mends everything and runs on until `isDone` holds and the
    /// queue is empty. Throws if the fault did not happen.
    ///
    /// - Parameters:
    ///   - fact: of a type that the lane publishes; its confirm is the one that is lost.
    ///   - size: messages in hand at least when the lane dies. The first batch has one; after it the window is open.
    public func survive(
        _ fault: LaneFault, _ messages: [OutgoingMessage], fact: MessageType, batchOf size: Int = 2,
        handler makeHandler: @escaping @Sendable () throws -> any Handler, until isDone: () throws -> Bool
    ) throws {
        try publish(messages, copies: fault.copies)
        let isEmptyToo = { try isDone() && self.depth(self.queue.name) == 0 }
        switch fault {
        case .losesCommitAnswer:
            let proxy = try FaultyProxy(port: try database.port)
            defer { proxy.close() }
            proxy.cut(whenSeen: "COMMIT", from: .client, .whenAnswered)
            try run(configuration(database: proxy), handler: makeHandler, until: isEmptyToo)
            try Self.expectCut(proxy)
        case .losesConfirm:
            let proxy = try broker.makeProxy()
            defer { proxy.close() }
            proxy.cut(whenSeen: fact.rawValue, from: .client, .whenAnswered)
            try run(configuration(broker: proxy), handler: makeHandler, until: isEmptyToo)
            try Self.expectCut(proxy)
        case .runsTwice:
            let recorder = BatchRecorder()
            try run(lanes: 2, probe: recorder, handler: makeHandler, until: isEmptyToo)
            guard recorder.batches.contains(where: { Set($0).count < $0.count }) else {
                throw ConditionNotMet(description: "no batch held a message twice")
            }
        case .diesBeforeCommit, .diesAfterCommit, .diesAfterPublish, .diesBeforeAck:
            try die(fault, batchOf: size, makeHandler)
            try run(handler: makeHandler, until: isEmptyToo)
        }
        // What was in hand at the end comes back, and may have led to more.
        try awaitReturn()
        for _ in 0..<5 where try depth(queue.name) > 0 {
            try run(handler: makeHandler, until: isEmptyToo)
            try awaitReturn()
        }
    }

    /// Waits until the broker has noticed that every lane is gone: only then are the messages they had in hand back in
    /// the queue, and its length tells what is left to do. Before that a queue may look empty, and the books done, though
    /// a message whose facts were never told is about to come back.
    private func awaitReturn() throws {
        try eventually("the broker has noticed that the lanes are gone") {
            try broker.consumerCount(queue.name) == 0
        }
    }

    /// What is left lying where nothing should be; empty when all is well.
    public func leftovers() throws -> [String] {
        let delays = Topology.RetryDelay.allCases.map { "retry.\($0.rawValue)" }
        return try ([queue.name, queue.parkedName] + delays).compactMap { name in
            let depth = try depth(name)
            return depth == 0 ? nil : "\(name): \(depth)"
        }
    }

    private func die(
        _ fault: LaneFault, batchOf size: Int, _ makeHandler: @escaping @Sendable () throws -> any Handler
    ) throws {
        guard let point = fault.crashPoint else { return }
        let crash = CrashOnce(at: point, batchOf: size)
        let stop = StopSignal()
        let lane = lane(stop: stop, probe: crash, handler: makeHandler)
        defer { stop.stop() }
        guard lane.join(for: .seconds(60)), crash.isDone else {
            throw ConditionNotMet(description: "the lane did not die at \(point.rawValue)")
        }
        try awaitReturn()
    }

    private static func expectCut(_ proxy: FaultyProxy) throws {
        guard proxy.triggeredCuts == 1 else { throw ConditionNotMet(description: "no connection was cut") }
    }
}
