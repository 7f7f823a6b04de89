import Glibc
import HTTPClient
import Postgres

/// The processes of the running system, by the files `make up` writes.
struct BenchDeployment {
    /// The services whose memory and metrics are looked at.
    static let services = ["gateway", "verification", "granting", "intake"]

    /// The gateway's port.
    let port: UInt16
    private let state: String
    private let database: String
    private let metrics: [String: String]

    init(_ settings: DrillSettings) throws {
        let url = try settings.value("GATEWAY_URL")
        guard let port = url.split(separator: ":").last.flatMap({ UInt16($0) }) else {
            throw DrillSettings.Problem(description: "PURSER_DRILL_GATEWAY_URL ends with no port: \(url)")
        }
        self.port = port
        func variable(_ name: String) throws -> String {
            guard let value = getenv(name) else {
                throw DrillSettings.Problem(description: "\(name) is not set")
            }
            return String(cString: value)
        }
        state = try variable("PURSER_STATE")
        database = try variable("PURSER_DATABASE_SUPERUSER")
        metrics = try Dictionary(
            uniqueKeysWithValues: Self.services.map { name in
                (name, try variable("PURSER_DRILL_\(name.uppercased())_METRICS_URL"))
            })
    }

    /// The folder of the simulator, with its certificates.
    var simulator: String { state + "/simulator" }

    /// The process id in a file of the state folder.
    func process(_ file: String) -> Int32? {
        ProcFile.read("\(state)/\(file)").flatMap { Int32($0.prefix { $0.isNumber }) }
    }

    /// The process of a service.
    func process(ofService name: String) -> Int32? { process("run/\(name).pid") }

    /// All values a service shows, by name and labels as they are written.
    func metrics(of service: String) throws -> [String: Double] {
        var client = try HTTPClient.open()
        let response = try client.send(HTTPClientRequest("GET", metrics[service] ?? ""))
        var values: [String: Double] = [:]
        for line in String(decoding: response.body, as: UTF8.self).split(separator: "\n") where !line.hasPrefix("#") {
            guard let space = line.lastIndex(of: " "), let value = Double(line[line.index(after: space)...]) else {
                continue
            }
            values[String(line[..<space])] = value
        }
        return values
    }

    /// How many notifications are stored, and how many transactions the books know.
    func notificationCounts() throws -> (stored: Int64, applied: Int64) {
        var connection = try Connection.open("\(database) dbname=purser", applicationName: "bench")
        let row = try connection.query(
            """
            SELECT (SELECT count(*) FROM intake.notifications) AS stored,
                (SELECT count(*) FROM granting.transactions) AS applied
            """
        ).single()
        return (try row.int8("stored"), try row.int8("applied"))
    }

    /// The application names of PostgreSQL's sessions, by process.
    func sessions() throws -> [Int32: String] {
        var connection = try Connection.open(database, applicationName: "bench")
        let rows = try connection.query("SELECT pid, application_name FROM pg_stat_activity WHERE datname IS NOT NULL")
        var names: [Int32: String] = [:]
        for row in rows { names[try row.int4("pid")] = try row.text("application_name") }
        return names
    }
}
