public import AMQP
public import Messages
public import Observability
import Runtime
import Synchronization

/// Asks questions over the broker and hands the answers to async callers.
///
/// Publishing is a ``Worker``: one thread owns the connection and serves all callers in rounds, one confirm wait a
/// round. Answers arrive on an exclusive queue named after the user and this boot, read by a second thread. Losing an
/// answer is harmless: the asker times out and asks again, and the truth is in the database.
public final class Requester: Sendable {
    /// What travels with a question besides its content.
    public struct Context: Sendable {
        /// The app it speaks of.
        public var app: AppID?
        /// Server-made, one from the HTTP request to the last log line. Must be unique among waiting questions.
        public var correlationID: String
        /// How long the asker waits.
        public var patience: Duration

        /// Composes the context.
        public init(app: AppID?, correlationID: String, patience: Duration) {
            self.app = app
            self.correlationID = correlationID
            self.patience = patience
        }
    }

    let user: String
    private let replyQueue: String
    let worker: Worker<OutgoingMessage, PublishOutcome>
    private let pending = PendingReplies()
    let told = Pending<Void>()
    private let blockedFlag: BlockedFlag
    private let isListening = Atomic<Bool>(false)
    private let stop = StopSignal()
    private let listener = Mutex<NamedThread?>(nil)

    /// Opens both connections in the background and keeps them open until ``shutDown(within:)``.
    ///
    /// - Parameter user: the broker user, prefix of its reply queues.
    public static func start(user: String, broker: AMQPEndpoint, logger: Logger) -> Requester {
        let requester = Requester(user: user, broker: broker)
        let thread = NamedThread.start(name: "replies") { requester.listen(broker, logger) }
        requester.listener.withLock { $0 = thread }
        return requester
    }

    private init(user: String, broker: AMQPEndpoint) {
        self.user = user
        replyQueue = Topology.replyQueue(user: user, boot: UUIDText.random())
        let blocked = BlockedFlag()
        blockedFlag = blocked
        let (pending, told) = (pending, told)
        let name = "purser-\(user) requests"
        worker = Worker.start(
            .init(name: "requests"), open: { try Publisher.open(broker, connectionName: name) },
            process: { publisher, messages in
                // The flag must be seen while this very round waits for a blocked broker. Nobody waits with it: lanes
                // cannot answer either, and asking again is safe.
                let outcomes = try publisher.publish(messages, whileWaiting: { blocked.isWaiting = true }) {
                    blocked.isWaiting = true
                    pending.failAll(.blocked)
                    told.failAll(.blocked)
                }
                blocked.isWaiting = false
                return outcomes.map { .success($0) }
            },
            tick: { publisher in
                try publisher.serveHeartbeat()
                blocked.isWaiting = publisher.isBlocked
            })
    }

    /// Whether questions can be asked: both connections are open and the broker takes messages.
    public var isReady: Bool { worker.isOpen && isListening.load(ordering: .relaxed) && !isBlocked }

    /// Whether the broker takes no messages now: it said so, or has confirmed nothing for a second.
    public var isBlocked: Bool { blockedFlag.isWaiting }

    /// Told messages that may wait for their confirms; more are refused. A fraction of the worker's mailbox, so that they
    /// never take the place of questions: two rounds and a half, some 30 ms of work.
    public static let tellLimit = 320

    /// How many askers wait at present.
    public var waiting: Int { pending.count }

    /// Asks and waits for the answer.
    ///
    /// - Throws: ``RequestError``. Cancelling the task does not take the question back.
    public func ask<Question: Message, Answer: Message>(
        _ question: Question, expecting answer: Answer.Type, context: Context
    ) async throws -> Answer {
        if isBlocked { throw RequestError.blocked }
        guard isListening.load(ordering: .relaxed) else {
            throw RequestError.brokerUnavailable(reason: "the reply queue is not open")
        }
        let header = MessageHeader(
            id: MessageID(UUIDText.random()), type: Question.type, version: Question.version,
            occurredAt: WallClock.milliseconds, correlationID: context.correlationID, app: context.app,
            replyTo: replyQueue)
        var message = Envelope.request(header, body: try MessageCoding.encode(question), service: user)
        message.properties.isPersistent = Topology.isDurable(Question.type)
        let delivery = try await withCheckedThrowingContinuation { continuation in
            pending.add(context.correlationID, deadline: .now + context.patience, continuation)
            // An alarm may have been told since the look above, before this asker could be told.
            if isBlocked {
                pending.fail(context.correlationID, .blocked)
            } else {
                Task { [message] in await publish(message, context.correlationID) }
            }
        }
        return try Self.read(delivery, as: answer)
    }

    /// Ends both threads; whoever still waits gets ``RequestError/timedOut``.
    public func shutDown(within limit: Duration) {
        stop.stop()
        worker.stop()
        _ = worker.join(for: limit)
        _ = listener.withLock { $0 }?.join(for: limit)
        pending.failAll(.timedOut)
        told.failAll(.timedOut)
    }

    private func expire() {
        pending.expire(now: .now)
        told.expire(now: .now)
    }

    private func publish(_ message: OutgoingMessage, _ correlationID: String) async {
        do {
            guard case .returned = try await worker.submit(message) else { return }
            pending.fail(correlationID, .brokerUnavailable(reason: "no queue takes it; is the topology imported?"))
        } catch WorkerError.overloaded {
            pending.fail(correlationID, .overloaded)
        } catch {
            pending.fail(correlationID, .brokerUnavailable(reason: describe(error)))
        }
    }

    private func listen(_ broker: AMQPEndpoint, _ logger: Logger) {
        var backoff = Backoff()
        while !stop.isStopped {
            do {
                try listen(broker) { backoff.reset() }
            } catch {
                isListening.store(false, ordering: .relaxed)
                logger.warning("the reply queue was lost", ["error": .string(describe(error))])
                // Deadlines go on while the broker is away.
                let until = ContinuousClock.now + backoff.next()
                while ContinuousClock.now < until, !stop.wait(for: .milliseconds(50)) { expire() }
            }
        }
        isListening.store(false, ordering: .relaxed)
    }

    private func listen(_ broker: AMQPEndpoint, opened: () -> Void) throws {
        var consumer = try Consumer.open(
            broker, connectionName: "purser-\(user) replies", queue: replyQueue,
            // Answers are small and handed over at once: the window only has to cover a round trip.
            prefetch: 512,
            setUp: .exclusiveReplyQueue(
                name: replyQueue, exchange: Topology.replies, routingKey: replyQueue))
        isListening.store(true, ordering: .relaxed)
        opened()
        while !stop.isStopped {
            let deliveries = try consumer.receive(max: 512, wait: .milliseconds(50))
            for delivery in deliveries { pending.answer(delivery) }
            if let last = deliveries.last { try consumer.acknowledge(upTo: last.tag) }
            expire()
            if deliveries.isEmpty { try consumer.serveHeartbeat() }
        }
        consumer.close()
    }

    private static func read<Answer: Message>(_ delivery: Delivery, as type: Answer.Type) throws -> Answer {
        switch delivery.properties.type {
        case type.type.rawValue:
            guard let answer = try? MessageCoding.decode(type, from: delivery.body) else {
                throw RequestError.unreadableAnswer
            }
            return answer
        case MessageType.requestParked.rawValue:
            let parked = try? MessageCoding.decode(RequestParked.self, from: delivery.body)
            throw RequestError.parked(reason: parked?.reason ?? "unknown")
        default:
            throw RequestError.unreadableAnswer
        }
    }
}

/// Shared between the publishing thread and its callers.
private final class BlockedFlag: Sendable {
    private let flag = Atomic<Bool>(false)
    /// Whether a round has waited for its confirms longer than the publisher's patience, or the broker says so.
    var isWaiting: Bool {
        get { flag.load(ordering: .relaxed) }
        set { flag.store(newValue, ordering: .relaxed) }
    }
}
