import AMQP
import AppStoreSimulation
import Glibc
import Observability
import TestSupport

/// The running deployment as a drill that disturbs it sees it: its processes, its scripts, its broker and database.
struct Site: Sendable {
    /// Where clients call.
    let gateway: String
    /// Where the store is.
    let simulator: String
    /// The app.
    let bundleID: String
    /// Services in their order of start.
    let services: [String]
    /// Those with a database schema.
    let stores: [String]
    /// The URL of each process that is answered 200 while it is ready.
    let readiness: [String: String]
    /// infra/scripts.
    let scripts: String
    /// The folder of everything the deployment writes.
    let state: String
    /// The broker's administrator on the deployment's virtual host.
    let broker: AMQPEndpoint
    /// The read-only auditor.
    let auditor: Secret
    /// Makes login tokens.
    let login: LoginTokens
    /// Makes service tokens.
    let service: LoginTokens

    /// A script that failed.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// - Parameter withCopies: whether the second copies belong to it, which the drill then starts.
    init(_ settings: DrillSettings, withCopies: Bool = false) throws {
        gateway = try settings.value("GATEWAY_URL")
        simulator = try settings.value("SIMULATOR_URL")
        bundleID = try settings.value("BUNDLE_ID")
        let copies = withCopies ? try settings.words("COPIES") : []
        services = try settings.words("SERVICES") + copies
        // What has two copies has a schema.
        stores = try settings.words("STORES") + copies
        var readiness: [String: String] = [:]
        for word in try settings.words("READINESS") {
            let parts = word.split(separator: "=", maxSplits: 1)
            if parts.count == 2 { readiness[String(parts[0])] = String(parts[1]) }
        }
        self.readiness = readiness
        scripts = try settings.value("SCRIPTS")
        state = try settings.state()
        broker = try AMQPEndpoint(url: try settings.value("BROKER_URL"))
        auditor = Secret(try settings.value("DATABASE"))
        // Longer than any drill.
        var login = try settings.login().tokens()
        login.lifetime = 6 * 3_600
        self.login = login
        var service = try settings.service().tokens()
        service.lifetime = 6 * 3_600
        self.service = service
    }

    /// Runs a script of infra/scripts, with variables besides those this process has; its output. Throws unless it
    /// ends with 0. Blocking.
    @discardableResult
    func run(_ script: String, _ arguments: String..., variables: [String: String] = [:]) throws -> String {
        let outcome = try attempt(script, arguments, variables: variables)
        guard outcome.status == 0 else {
            let call = ([script] + arguments).joined(separator: " ")
            throw Failure(description: "`\(call)` ended with \(outcome.status): \(outcome.output)")
        }
        return outcome.output
    }

    /// The same, however it ends.
    func attempt(_ script: String, _ arguments: [String], variables: [String: String] = [:]) throws -> Command.Outcome {
        let words = variables.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        return try Command.capture("/usr/bin/env", words + ["\(scripts)/\(script)"] + arguments)
    }

    /// The process that runs as `name`, if it lives.
    func pid(of name: String) -> pid_t? {
        guard let pid = SmallFile.read("\(state)/run/\(name).pid").flatMap({ pid_t($0.trimmedAtEnd) }) else {
            return nil
        }
        return Self.isAlive(pid) ? pid : nil
    }

    /// Whether the process lives; one that ended and was not collected by its parent does not.
    static func isAlive(_ pid: pid_t) -> Bool {
        // "pid (name) state …"; the name may hold anything.
        guard let stat = SmallFile.read("/proc/\(pid)/stat"), let end = stat.lastIndex(of: ")") else { return false }
        return !["Z", "X"].contains(stat[end...].dropFirst(2).prefix(1))
    }
}

/// Small text files. Blocking.
enum SmallFile {
    /// The content without the line break at its end; nil if it cannot be read.
    static func read(_ path: String) -> String? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        // Pid files and /proc/…/stat are far smaller.
        var buffer = [UInt8](repeating: 0, count: 4_096)
        let count = Glibc.read(file, &buffer, buffer.count)
        guard count > 0 else { return nil }
        let text = String(decoding: buffer[..<count], as: UTF8.self)
        return text.last == "\n" ? String(text.dropLast()) : text
    }

    /// Replaces the file.
    static func write(_ bytes: [UInt8], to path: String) throws {
        let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw Site.Failure(description: "cannot write \(path)") }
        defer { close(file) }
        guard Glibc.write(file, bytes, bytes.count) == bytes.count else {
            throw Site.Failure(description: "cannot write \(path)")
        }
    }
}
