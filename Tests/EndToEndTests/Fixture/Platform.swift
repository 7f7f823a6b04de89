import AMQP
import Glibc
import Messages
import Observability
import Postgres
import TestSupport

/// A real RabbitMQ and a real PostgreSQL: those all tests share, or a pair of one suite that may crash them.
struct Platform: Sendable {
    /// The broker's administrator, without virtual host.
    let broker: AMQPEndpoint
    /// Runs rabbitmqctl.
    let controlScript: String
    /// Superuser of the cluster.
    let superuser: String
    /// Where broker and database live, with their passwords.
    let state: String
    /// Whether they belong to one suite.
    let isOwn: Bool

    /// What `infra/scripts/test-services` started.
    static func shared() throws -> Platform {
        Platform(
            broker: try AMQPEndpoint(url: try TestSetting.required("PURSER_TEST_AMQP_URL")),
            controlScript: try TestSetting.required("PURSER_TEST_RABBITMQ_CTL"),
            superuser: try TestSetting.required("PURSER_TEST_POSTGRES"),
            state: try TestSetting.required("PURSER_TEST_STATE"), isOwn: false)
    }

    /// A pair of its own, started now (about 6 s). `stop` ends it.
    static func own(_ name: String) throws -> Platform {
        let state = try Places.makeFolder("state-" + name)
        try script("database", ["start"], state)
        try script("broker", ["start"], state)
        let variables = try environment("broker", state).merging(try environment("database", state)) { $1 }
        func variable(_ name: String) throws -> String {
            guard let value = variables[name] else { throw Places.Missing(description: "no \(name) from the scripts") }
            return value
        }
        return Platform(
            broker: try AMQPEndpoint(url: try variable("PURSER_BROKER_URL")),
            controlScript: try variable("PURSER_BROKER_CTL"), superuser: try variable("PURSER_DATABASE_SUPERUSER"),
            state: state, isOwn: true)
    }

    /// Runs `broker kill`, `database backup FOLDER` and so on, on an own pair.
    func run(_ script: String, _ words: String...) throws {
        guard isOwn else { throw Places.Missing(description: "the shared services are not to be disturbed") }
        try Self.script(script, words, state)
    }

    /// Stops an own pair and removes it; its logs join those of the run, its passwords what they are searched for.
    func stop() throws {
        guard isOwn else { return }
        try run("broker", "stop")
        try run("database", "stop")
        let secrets = try Command.run("/usr/bin/find", [state + "/secrets", "-type", "f"]).split(separator: "\n")
        Canaries.register(
            "a password of the services", secrets.map { TextFiles.read(String($0)).filter { $0 != "\n" } })
        let logs = try Places.logFolder("own-" + String(state.split(separator: "/").last ?? ""))
        _ = try Command.capture("/bin/cp", ["-r", state + "/logs/.", logs])
        _ = try Command.capture("/bin/rm", ["-rf", state])
    }

    /// The broker dies and its disk is lost: every queue, message, stream, user and right. An empty node comes back on the
    /// same port.
    func loseBroker() throws {
        try run("broker", "kill")
        _ = try Command.run("/bin/rm", ["-rf", state + "/broker/mnesia"])
        try run("broker", "start")
    }

    /// Gives the broker everything the source describes, by the operator's script, and asks whether it has it.
    func declareTopology(virtualHost: String, password: String) throws {
        guard isOwn else { throw Places.Missing(description: "the users of the shared broker are everybody's") }
        for user in Topology.accesses.map(\.user) {
            try TextFiles.write(password, to: "\(state)/secrets/broker-\(user)")
        }
        let path = try Places.root() + "/infra/scripts/topology"
        let variables = ["PURSER_STATE": state, "PURSER_VIRTUAL_HOST": virtualHost]
        try Command.run(path, [], environment: variables)
        try Command.run(path, ["check"], environment: variables)
    }

    /// Makes database, roles and schemas as every deployment does.
    func makeRoles(database: String) throws {
        let path = try Places.root() + "/infra/scripts/roles"
        try Command.run(path, [], environment: ["PURSER_STATE": state, "PURSER_DATABASE_NAME": database])
    }

    @discardableResult
    private static func script(_ name: String, _ words: [String], _ state: String) throws -> String {
        let path = try Places.root() + "/infra/scripts/" + name
        return try Command.run("/usr/bin/env", ["PURSER_STATE=" + state, path] + words)
    }

    /// The variables of `export NAME=value NAME=value` lines, as a shell understands them. It reads them itself: in its
    /// arguments everybody could read the passwords.
    private static func environment(_ name: String, _ state: String) throws -> [String: String] {
        let path = try Places.root() + "/infra/scripts/" + name
        let printed = try Command.run(
            "/bin/bash", ["-c", #"exports=$("$0" env) && eval "$exports" && env"#, path],
            environment: ["PURSER_STATE": state])
        var variables: [String: String] = [:]
        for line in printed.split(separator: "\n") {
            let parts = line.split(separator: "=", maxSplits: 1)
            if parts.count == 2 { variables[String(parts[0])] = String(parts[1]) }
        }
        return variables
    }

    /// A session of the superuser, in `database` or the default one.
    func connect(_ database: String? = nil) throws -> Connection {
        try Connection.open(
            superuser + (database.map { " dbname=" + $0 } ?? ""), applicationName: "end to end",
            parameters: ["statement_timeout": "60s", "lock_timeout": "60s"])
    }

    /// The conninfo of a role in `database`.
    func conninfo(role: String, database: String) -> String {
        "\(superuser) dbname=\(database) user=\(role) password=\(rolePassword(role))"
    }

    /// The password infra/scripts/roles gave to a role.
    func rolePassword(_ role: String) -> String { TextFiles.read(state + "/secrets/database-" + role) }
}
