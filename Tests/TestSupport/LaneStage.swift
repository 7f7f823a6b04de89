public import AMQP
public import Messages
public import Observability
public import Pipeline
import Postgres
public import Runtime
public import Service
import Synchronization

/// What a lane of one service lives with, all of it real: a broker with the imported topology, where the service logs in
/// as itself with its own permissions; a migrated database, where it does the same; somebody who listens to every fact,
/// and somebody who waits for every answer.
public final class LaneStage: Sendable {
    /// The broker, with a virtual host shared by all stages of a suite.
    public let broker: TestBroker
    /// A database of this stage's own.
    public let database: TestDatabase
    /// The queue whose lane is looked at.
    public let queue: Topology.Queue
    /// The service, its schema, its broker user.
    public let service: String
    /// The database role lanes work as; nil for the superuser.
    public let role: String?

    /// Gets a copy of every fact of the service (not of its requests to itself).
    public static let observer = "test.observer"
    /// Where answers go: a durable queue, so that they can be read in peace.
    public static let replies = "test.replies"
    /// RabbitMQ's salted SHA-256 of ``password``.
    private static let passwordHash = "bGFuZW/dyeFA7Kkas6oLgnn4IXOubfwxPcpIR4jCXAFwBA3i"
    private static let password = "lane-test"
    private static let imported = Mutex<Set<String>>([])

    private init(
        broker: TestBroker, database: TestDatabase, queue: Topology.Queue, service: String, role: String?
    ) {
        self.broker = broker
        self.database = database
        self.queue = queue
        self.service = service
        self.role = role
    }

    /// A stage on the suite's virtual host, whose queues are emptied, and on a fresh database called `name`.
    ///
    /// - Parameters:
    ///   - suite: one virtual host a suite, because importing takes a second. Its tests must run one after the other.
    ///   - migrations: of the service; run by `purser_migrator`, and lanes then work as `purser_<service>`. Without any,
    ///     `script` makes the schema and lanes work as superuser.
    ///   - script: run by the superuser after the migrations.
    public static func make(
        suite: String, name: String, queue: Topology.Queue, migrations: [Migration] = [], script: String = ""
    ) async throws -> LaneStage {
        let service = String(queue.name.prefix { $0 != "." })
        let broker = try await TestBroker.shared(suite)
        let database = try await TestDatabase.shared("\(suite)_\(name)")
        let stage = LaneStage(
            broker: broker, database: database, queue: queue, service: service,
            role: migrations.isEmpty ? nil : "purser_\(service)")
        try await onThread {
            try stage.setUpBroker()
            if !migrations.isEmpty { try database.migrate(service, migrations) }
            if !script.isEmpty { try database.execute(script) }
        }
        return stage
    }

    private func setUpBroker() throws {
        let isNew = Self.imported.withLock { $0.insert(broker.virtualHost).inserted }
        guard isNew else {
            for name in [queue.name, queue.parkedName, Self.observer, Self.replies] where try depth(name) > 0 {
                _ = try drain(name)
            }
            return
        }
        let definitions = try Topology.definitions(
            virtualHost: broker.virtualHost, passwordHashes: [service: Self.passwordHash])
        try broker.importDefinitions(String(decoding: definitions, as: UTF8.self))
        try broker.declareQueue(Self.observer, kind: .classic)
        try broker.declareQueue(Self.replies, kind: .classic)
        let says = Topology.accesses.filter { $0.user == service }.flatMap(\.says)
        // Without what the service says to this very queue: tests say that too.
        for type in says where !queue.types.contains(type) {
            try broker.bindQueue(Self.observer, exchange: Topology.exchange(of: service), routingKey: type.rawValue)
        }
        try broker.bindQueue(Self.replies, exchange: Topology.replies, routingKey: Self.replies)
    }

    // MARK: - Lanes

    /// Where lanes work: directly, or by way of proxies.
    public func configuration(
        broker brokerProxy: FaultyProxy? = nil, database databaseProxy: FaultyProxy? = nil
    ) -> LaneConfiguration {
        var endpoint = brokerProxy.map { broker.endpoint(through: $0) } ?? broker.endpoint
        endpoint.user = service
        endpoint.password = Secret(Self.password)
        let conninfo =
            databaseProxy.map { database.conninfo(proxyPort: $0.port, role: role) } ?? database.conninfo(role: role)
        return LaneConfiguration(service: service, queue: queue, broker: endpoint, database: Secret(conninfo))
    }

    /// Starts a lane.
    public func lane(
        _ configuration: LaneConfiguration? = nil, stop: StopSignal, probe: any LaneProbe = NoProbe(),
        metrics: Metrics = Metrics(), handler makeHandler: @escaping @Sendable () throws -> any Handler
    ) -> Lane {
        Lane.start(
            configuration ?? self.configuration(), stop: stop, logger: .silent, metrics: metrics, probe: probe,
            makeHandler: makeHandler)
    }

    /// Runs lanes until `isDone` holds, then stops them: everything in hand is finished and acknowledged.
    public func run(
        lanes count: Int = 1, _ configuration: LaneConfiguration? = nil, probe: any LaneProbe = NoProbe(),
        handler makeHandler: @escaping @Sendable () throws -> any Handler, until isDone: () throws -> Bool
    ) throws {
        let stop = StopSignal()
        let lanes = (0..<count).map { _ in lane(configuration, stop: stop, probe: probe, handler: makeHandler) }
        defer { stop.stop() }
        try eventually(within: .seconds(60), "the lane has done it", isDone)
        stop.stop()
        for lane in lanes where !lane.join(for: .seconds(60)) {
            throw ConditionNotMet(description: "a lane did not stop")
        }
    }

    // MARK: - Messages

    /// A request as a gateway sends it, somebody waiting for the answer.
    public func request(_ body: some Message, id: MessageID = MessageID(UUIDText.random())) throws -> OutgoingMessage {
        let routingKey = body.messageType.rawValue
        guard let exchange = Topology.exchanges(saying: body.messageType).first else {
            throw ConditionNotMet(description: "nobody may say \(routingKey)")
        }
        let properties = MessageProperties(
            messageID: id.rawValue, type: routingKey, correlationID: UUIDText.random(), replyTo: Self.replies,
            contentType: "application/json", isPersistent: true,
            headers: [HeaderName.schemaVersion: 1, HeaderName.occurredAt: 1_780_000_000_000])
        return OutgoingMessage(
            exchange: exchange, routingKey: routingKey, isMandatory: true, properties: properties,
            body: try MessageCoding.encode(body))
    }

    /// Publishes everything, `copies` times in a row, and makes sure that the broker has it.
    public func publish(_ messages: [OutgoingMessage], copies: Int = 1) throws {
        let outcomes = try broker.publish(messages.flatMap { Array(repeating: $0, count: copies) })
        guard outcomes.allSatisfy({ $0 == .confirmed }) else {
            throw ConditionNotMet(description: "not all confirmed: \(outcomes)")
        }
    }

    /// Ready messages in a queue, -1 if there is none of that name.
    public func depth(_ name: String) throws -> Int { try broker.messageCount(name) ?? -1 }

    /// Takes everything that lies in a queue now.
    public func drain(_ name: String) throws -> [Delivery] {
        let expected = try depth(name)
        var consumer = try Consumer.open(broker.endpoint, connectionName: "test", queue: name, prefetch: 500)
        defer { consumer.close() }
        var all: [Delivery] = []
        while true {
            // As long as any is missing a busy broker is waited for; then what came meanwhile is taken too.
            let some = try consumer.receive(max: 500, wait: all.count < expected ? .seconds(60) : .milliseconds(300))
            guard let last = some.last else { return all }
            all += some
            try consumer.acknowledge(upTo: last.tag)
        }
    }

    /// Takes every fact that was told so far.
    public func facts() throws -> [Told] { try drain(Self.observer).map(Told.init) }

    /// Takes every answer that was given so far.
    public func answers() throws -> [Told] { try drain(Self.replies).map(Told.init) }

    /// Why messages were parked.
    public func parkedReasons() throws -> [String] {
        try drain(queue.parkedName).map { $0.properties.headers[HeaderName.reason]?.stringValue ?? "" }
    }
}

extension OutgoingMessage {
    /// The message's id.
    public var id: MessageID { MessageID(properties.messageID ?? "") }
}
