import AMQP
import Crypto
import Glibc
import Messages
import Postgres
import TestSupport

/// What exists before the first process starts, and the settings the processes are given.
extension Deployment {
    /// The services with a schema.
    private static let schemas = ["verification", "intake", "granting", "reconciliation"]

    func prepare() throws {
        try writeConfiguration()
        try platform.makeRoles(database: database)
        try importTopology()
        for schema in Self.schemas {
            guard let service = Service(rawValue: schema) else { continue }
            let migrator = platform.conninfo(role: "purser_migrator", database: database)
            let outcome = try run(
                service.program, ["migrate"], environment(service),
                changes: ["PURSER_\(schema.uppercased())_MIGRATION_DATABASE": migrator])
            guard outcome.status == 0 else {
                throw Places.Missing(description: "\(service.program) migrate: \(outcome.output)")
            }
        }
        Canaries.register("a key or password of a deployment", secrets.all)
    }

    /// The settings of a service.
    func environment(_ service: Service) -> [String: String] {
        var settings: [String: String] = [:]
        switch service {
        case .simulator:
            settings["STATE"] = folder + "/store"
            settings["HTTP_PORT"] = String(port("simulator"))
            settings["ROOT_FILE"] = folder + "/root.pem"
            if name == RevocationTests.name { settings["OCSP_ADDRESS"] = simulator + "/ocsp" }
        case .gateway:
            settings["HTTP_PORT"] = String(port("gateway"))
            settings["APPS"] = folder + "/apps"
            // As infra/scripts/service: this machine plays proxies and own servers; other addresses are limited.
            settings["TRUSTED_PROXIES"] = "127.0.0.1"
            settings["UNLIMITED_ADDRESSES"] = "127.0.0.1"
            // Whoever tries hundreds of hostile requests must be answered by what is looked at, not by 429.
            if name == "hostile" { settings["USER_RATE"] = "0" }
        case .verification, .intake:
            settings["APPS"] = folder + "/apps"
            settings["ROOTS"] = folder + "/root.pem"
            if name == RevocationTests.name, service == .verification {
                settings["OCSP_PRIVATE_HOSTS"] = "127.0.0.1:\(port("simulator"))"
                settings["OCSP_TIMEOUT"] = "1000"
            }
            if name == VerifyReceiptTests.name, service == .verification {
                settings["VERIFY_RECEIPT"] = "fallback"
                settings["VERIFY_RECEIPT_PRODUCTION"] = simulator + "/verifyReceipt"
                settings["VERIFY_RECEIPT_SANDBOX"] = simulator + "/sandbox/verifyReceipt"
                settings["VERIFY_RECEIPT_TIMEOUT"] = "1000"
            }
            if service == .intake { settings.merge(consumptionSettings) { $1 } }
        case .granting:
            break
        case .reconciliation:
            settings.merge(checkSettings) { $1 }
        }
        if service != .simulator {
            settings["AMQP_URL"] = brokerURL(user: service.rawValue)
            settings["METRICS_PORT"] = String(port(service.rawValue + ".metrics"))
        }
        if Self.schemas.contains(service.rawValue) {
            settings["DATABASE"] = platform.conninfo(role: "purser_" + service.rawValue, database: database)
        }
        settings["LOG_LEVEL"] = "debug"
        let prefix = "PURSER_\(service.rawValue.uppercased())_"
        return Dictionary(uniqueKeysWithValues: settings.map { (prefix + $0.key, $0.value) })
    }

    /// Where a test waits for a repair, minutes are a second.
    private var checkSettings: [String: String] {
        let asksApple = name.hasPrefix("apple") || name.hasPrefix("recovery")
        guard asksApple || name.hasPrefix("reconciliation") else { return ["INTERVAL_MS": "10000"] }
        return ["INTERVAL_MS": "200", "DECISION_SECONDS": "1"].merging(asksApple ? appleSettings : [:]) { $1 }
    }

    /// How Apple is asked what it has told: every second instead of every quarter of an hour.
    private var appleSettings: [String: String] {
        [
            "APPS": folder + "/apps", "SERVER_API_PRODUCTION": simulator, "SERVER_API_SANDBOX": simulator + "/sandbox",
            "SERVER_API_PERCENT": "100", "APPLE_INTERVAL_SECONDS": "1", "APPLE_DELAY_SECONDS": "1",
            "APPLE_ACCOUNT_SECONDS": "1", "APPLE_FIRST_DAYS": "1", "ROOTS": folder + "/root.pem",
        ]
    }

    /// Where Apple is told about consumption. Where a test waits for Apple's hours to pass, they are seconds.
    private var consumptionSettings: [String: String] {
        var settings = [
            "SERVER_API_PRODUCTION": simulator, "SERVER_API_SANDBOX": simulator + "/sandbox",
            "CONSUMPTION_INTERVAL_MS": "50",
        ]
        if name.hasPrefix("consumption") {
            settings["CONSUMPTION_RECHECK"] = "1"
            settings["CONSUMPTION_RETRY"] = "1"
        }
        if name == "consumption_late" {
            settings["CONSUMPTION_FIRST_ALERT"] = "3"
            settings["CONSUMPTION_SECOND_ALERT"] = "4"
            settings["CONSUMPTION_LIMIT"] = "6"
        }
        return settings
    }

    /// The settings of `purser`.
    var controlEnvironment: [String: String] {
        [
            "PURSER_CONTROL_AMQP_URL": brokerURL(user: "control"),
            "PURSER_CONTROL_DATABASE": platform.conninfo(role: "purser_auditor", database: database),
        ]
    }

    /// The way of a broker user into the virtual host.
    func brokerURL(user: String) -> String {
        "amqp://\(user):\(secrets.brokerPassword)@\(platform.broker.host):\(platform.broker.port)/\(virtualHost)"
    }

    /// The app's file, which is the one operators start from, with a tester in it.
    private func writeConfiguration() throws {
        let apps = folder + "/apps"
        try Places.makeFolder(at: apps)
        try Places.makeFolder(at: apps + "/keys")
        try TextFiles.write(secrets.loginKey + "\n", to: apps + "/keys/cloudpc-login.secret")
        try TextFiles.write(secrets.serviceKey + "\n", to: apps + "/keys/cloudpc-services.secret")
        let pem = try secrets.appStoreKey.pemRepresentation()
        try TextFiles.write(pem, to: apps + "/keys/cloudpc-app-store.p8")
        Canaries.register(
            "a key for Apple's Server API", pem.split(separator: "\n").filter { !$0.contains("-") }.map(String.init))
        let original = TextFiles.read(try Places.root() + "/apps/cloudpc.yaml")
        let changed = original.replacing("testers: []", with: "testers: [\(Self.tester)]")
        guard changed != original else {
            throw Places.Missing(description: "apps/cloudpc.yaml has no line `testers: []` to put a tester into")
        }
        try TextFiles.write(changed, to: apps + "/cloudpc.yaml")
        for app in ["points", "game"] {
            let text = TextFiles.read(try Places.root() + "/apps/\(app).yaml")
            try TextFiles.write(
                text.replacing("testers: []", with: "testers: [\(Self.tester)]"), to: apps + "/\(app).yaml")
            try TextFiles.write(secrets.loginKey + "\n", to: apps + "/keys/\(app)-login.secret")
            try TextFiles.write(secrets.serviceKey + "\n", to: apps + "/keys/\(app)-services.secret")
        }
        try TextFiles.write(secrets.identityKey + "\n", to: apps + "/keys/points-identity.secret")
    }

    /// What `purser topology` prints, imported: the real users with the real permissions.
    func importTopology() throws {
        let users = folder + "/broker-users"
        let lines = Topology.accesses.map(\.user).map { "\($0):\(secrets.brokerPassword)" }
        try TextFiles.write(lines.joined(separator: "\n") + "\n", to: users)
        let outcome = try run("purser", ["topology", "--vhost", virtualHost, "--users", users], [:])
        guard outcome.status == 0 else {
            throw Places.Missing(description: "purser topology: \(outcome.output)")
        }
        // rabbitmqctl may run as another user and cannot look into the deployment's folder.
        let definitions = "/tmp/purser-e2e-definitions-\(virtualHost).json"
        try TextFiles.write(outcome.output, to: definitions, mode: 0o644)
        defer { unlink(definitions) }
        try Command.run(platform.controlScript, ["import_definitions", definitions])
    }

    /// Products and policies, the way an operator brings them in.
    func importCatalog() throws {
        for app in ["cloudpc", "points", "game"] {
            let outcome = try run(
                "purser", ["catalog", "import", "--yes", "--actor", "tests", "\(folder)/apps/\(app).yaml"],
                controlEnvironment)
            guard outcome.status == 0 else {
                throw Places.Missing(description: "purser catalog import: \(outcome.output)")
            }
        }
    }
}
