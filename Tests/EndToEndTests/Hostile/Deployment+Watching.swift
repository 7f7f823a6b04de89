import AMQP
import Glibc
import HTTPClient
import Messages
import Postgres
import TestSupport
import Testing

/// What hostile tests look at from outside.
extension Deployment {
    /// The processes by service, nil for one that has ended.
    func pids() -> [Service: pid_t?] {
        Dictionary(
            uniqueKeysWithValues: Service.allCases.map { service in
                let process = process(service)
                return (service, process?.ended == nil ? process?.pid : nil)
            })
    }

    /// Keeps a measured number: printed, and appended to `measured.log` beside the services' logs.
    func note(_ line: String) {
        print("measured: \(line)")
        try? TextFiles.append([line], to: logs + "/measured.log")
    }

    /// The most memory a service ever had resident, in KiB.
    func peakMemory(_ service: Service) throws -> Int {
        let pid = try #require(process(service)?.pid)
        let status = TextFiles.read("/proc/\(pid)/status")
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") })
        return try #require(Int(line.filter(\.isNumber)))
    }

    /// The sum of a metric over those of its lines that hold all `labels`.
    func metric(_ name: String, of service: Service, labels: [String] = []) throws -> Int {
        var client = try HTTPClient.open()
        let url = "http://127.0.0.1:\(port(service.rawValue + ".metrics"))/metrics"
        let text = String(decoding: try client.send(HTTPClientRequest("GET", url)).body, as: UTF8.self)
        return text.split(separator: "\n").filter { line in
            line.hasPrefix(name) && labels.allSatisfy { line.contains($0) }
        }.reduce(0) {
            $0 + (Int($1.split(separator: " ").last ?? "") ?? 0)
        }
    }
}

extension Insider {
    /// Whose lane reads a queue.
    func service(of queue: Topology.Queue) -> Deployment.Service {
        Deployment.Service(rawValue: String(queue.name.prefix { $0 != "." })) ?? .granting
    }

    /// Messages of a queue that its lane has handled.
    func done(_ queue: Topology.Queue) throws -> Int {
        try deployment.metric(
            "purser_lane_outcomes_total", of: service(of: queue), labels: ["\"\(queue.name)\"", "\"done\""])
    }

    /// A queue gets empty, also of messages in its lane's hand, and its lane works on.
    func expectEmpty(_ queue: Topology.Queue) throws {
        try eventually(within: .seconds(60), every: .milliseconds(100), "\(queue.name) is empty") {
            try deployment.messages(in: queue.name) == 0
        }
        try deployment.waitUntilReady(service(of: queue))
    }
}

extension Books {
    /// The tables there are: a statement that came in as text would have dropped one.
    func tables() throws -> Int64 {
        try number(
            """
            SELECT count(*) FROM pg_tables
            WHERE schemaname IN ('granting', 'intake', 'reconciliation', 'verification')
            """, [])
    }

    /// How many messages of a work queue left what they are for; nil for queues without a table of their own.
    func effects(on queue: String, of causes: [String]) throws -> Int64? {
        let place =
            switch queue {
            case "verification.purchases": "verification.evidence WHERE message"
            case "intake.notifications": "intake.notifications WHERE message"
            case "intake.commands": "intake.redrives WHERE message"
            case "granting.purchases": "granting.grants WHERE cause"
            case "granting.wallet": "granting.spends WHERE cause"
            default: ""
            }
        guard !place.isEmpty else { return nil }
        return try number("SELECT count(*) FROM \(place)::text = ANY($1)", [.textArray(causes)])
    }
}

extension Deployment {
    /// The status a user's GET is answered with.
    func status(of path: String, user: String) throws -> Int {
        var client = try HTTPClient.open()
        let headers = [("Authorization", "Bearer " + (try loginToken(user)))]
        return try client.send(HTTPClientRequest("GET", gateway + path, headers: headers)).status
    }
}

extension Insider {
    /// Takes `count` messages out of any queue, or what has come after a minute.
    func taken(from queue: String, count: Int) throws -> [Delivery] {
        var consumer = try Consumer.open(endpoint, connectionName: "insider", queue: queue, prefetch: 200)
        defer { consumer.close() }
        let deadline = ContinuousClock.now + .seconds(60)
        var all: [Delivery] = []
        while all.count < count, ContinuousClock.now < deadline {
            let some = try consumer.receive(max: 200, wait: .milliseconds(100))
            guard let last = some.last else { continue }
            all += some
            try consumer.acknowledge(upTo: last.tag)
        }
        return all
    }
}
