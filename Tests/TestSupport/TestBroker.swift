public import AMQP
import Glibc
import Synchronization

/// The real RabbitMQ of the test run: a fresh virtual host for each suite, deleted when the run ends.
///
/// `PURSER_TEST_AMQP_URL` names the broker and its administrator, `PURSER_TEST_RABBITMQ_CTL` a script that runs
/// rabbitmqctl against it; `infra/scripts/test-services` starts both.
public final class TestBroker: Sendable {
    /// The administrator of this suite's virtual host.
    public let endpoint: AMQPEndpoint
    /// Path of the script that runs rabbitmqctl.
    public let controlScript: String

    /// The virtual host of this suite.
    public var virtualHost: String { endpoint.virtualHost }

    private init(endpoint: AMQPEndpoint, controlScript: String) {
        self.endpoint = endpoint
        self.controlScript = controlScript
    }

    private static let made = Mutex<[String: TestBroker]>([:])

    /// The broker of the suite `name`, with a virtual host made at the first call of the run.
    public static func shared(_ name: String) async throws -> TestBroker {
        try await onThread {
            try made.withLock { brokers in
                if let broker = brokers[name] { return broker }
                if brokers.isEmpty { atexit { TestBroker.deleteAll() } }
                let broker = try make(name)
                brokers[name] = broker
                return broker
            }
        }
    }

    private static func make(_ name: String) throws -> TestBroker {
        let url = try TestSetting.required("PURSER_TEST_AMQP_URL")
        let script = try TestSetting.required("PURSER_TEST_RABBITMQ_CTL")
        let unique = String(UInt64.random(in: 0 ... .max), radix: 36)
        let endpoint = try AMQPEndpoint(url: url).with(virtualHost: "test-\(name)-\(unique)")
        let broker = TestBroker(endpoint: endpoint, controlScript: script)
        try broker.importDefinitions(
            """
            {"vhosts":[{"name":"\(endpoint.virtualHost)"}],
             "permissions":[{"user":"\(endpoint.user)","vhost":"\(endpoint.virtualHost)",
                             "configure":".*","write":".*","read":".*"}]}
            """)
        return broker
    }

    private static func deleteAll() {
        let brokers = made.withLock { brokers in
            let all = Array(brokers.values)
            brokers.removeAll()
            return all
        }
        for broker in brokers { _ = try? broker.control("delete_vhost", broker.virtualHost) }
    }

    /// Runs rabbitmqctl with `arguments` and returns what it printed. Blocking, about 0.5 s: own threads only.
    @discardableResult
    public func control(_ arguments: String...) throws -> String {
        try Command.run(controlScript, arguments)
    }

    /// Imports a RabbitMQ definitions file given as JSON text. Blocking, about 0.7 s: own threads only.
    ///
    /// Definitions name their virtual host; write this suite's (`virtualHost`) into them.
    public func importDefinitions(_ json: String) throws {
        let path = "/tmp/purser-definitions-\(getpid())-\(UInt64.random(in: 0 ... .max)).json"
        // Readable by others: rabbitmqctl may run as another user. Test definitions hold no secrets.
        let file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
        guard file >= 0 else { throw Command.Failure(description: "cannot write \(path)") }
        defer { unlink(path) }
        let bytes = Array(json.utf8)
        let written = write(file, bytes, bytes.count)
        close(file)
        guard written == bytes.count else { throw Command.Failure(description: "cannot write all of \(path)") }
        try control("import_definitions", path)
    }
}
