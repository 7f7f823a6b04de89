import AppStoreSimulation
import Crypto
import Glibc

/// Where the running system is and whose keys it trusts, from `PURSER_DRILL_…` variables.
struct DrillSettings {
    /// A setting that is missing or unusable.
    struct Problem: Error, CustomStringConvertible {
        let description: String
    }

    /// Issuer, audience and key of one kind of token.
    struct Issuer {
        let issuer: String
        let audience: String
        let keyID: String
        let keyFile: String

        /// A maker of such tokens.
        func tokens() throws -> LoginTokens {
            let secret = try DrillSettings.secret(keyFile)
            do {
                return try LoginTokens(issuer: issuer, audience: audience, secret: secret, keyID: keyID)
            } catch {
                throw Problem(description: "\(keyFile): \(error)")
            }
        }
    }

    private static let prefix = "PURSER_DRILL_"
    private let environment: [String: String]

    /// All settings with their defaults, which are those of apps/cloudpc.yaml; without one they must be set.
    private static let meanings: [(name: String, fallback: String?, meaning: String)] = [
        ("GATEWAY_URL", nil, "the gateway, such as http://127.0.0.1:8080"),
        ("SIMULATOR_URL", nil, "the App Store simulator, such as http://127.0.0.1:8099"),
        ("APPS", nil, "the folder of apps/cloudpc.yaml and its keys"),
        ("LOGIN_KEY_FILE", nil, "the HS256 secret of login tokens; default keys/cloudpc-login.secret in that folder"),
        ("LOGIN_ISSUER", "https://login.cloudpc.example", "their issuer"),
        ("LOGIN_AUDIENCE", "cloudpc", "their audience"),
        ("LOGIN_KEY_ID", "login-1", "the id of their key"),
        ("SERVICE_KEY_FILE", nil, "that of service tokens; default keys/cloudpc-services.secret in that folder"),
        ("SERVICE_ISSUER", "https://services.cloudpc.example", "their issuer"),
        ("SERVICE_AUDIENCE", "cloudpc-services", "their audience"),
        ("SERVICE_KEY_ID", "services-1", "the id of their key"),
        ("BUNDLE_ID", "com.bujingyun.pyydn", "the app's bundle id"),
        ("APP_APPLE_ID", "1234567890", "Apple's number of the app"),
        ("HISTORY", nil, "demo: set where reconciliation asks the simulator what it has told; scenes 19 and 20"),
        ("SCRIPTS", nil, "chaos and backlog: the folder infra/scripts; PURSER_STATE names the deployment"),
        ("SERVICES", nil, "chaos and backlog: the services in their order of start"),
        ("STORES", nil, "chaos and backlog: those with a database schema"),
        ("COPIES", nil, "chaos: second copies of services, which it starts"),
        ("READINESS", nil, "chaos and backlog: name=URL of each process's readiness"),
        ("BROKER_URL", nil, "chaos and backlog: the broker's administrator"),
        ("GATEWAY_BROKER_URL", nil, "backlog and reconcile: the gateway's broker user"),
        ("BROKER_PORT", nil, "chaos: where the broker is"),
        ("DATABASE_PORT", nil, "chaos: where the database is"),
        ("SUPERUSER", nil, "reconcile: conninfo of who may change the books by hand"),
        ("DATABASE", nil, "chaos and backlog: conninfo of the read-only auditor"),
    ]

    /// One line a setting.
    static var explanation: String {
        meanings.map { "  \(prefix)\($0.name)  \($0.meaning)\($0.fallback.map { "; default \($0)" } ?? "")" }
            .joined(separator: "\n")
    }

    /// The settings of this process.
    init() {
        var variables: [String: String] = [:]
        for (name, fallback, _) in Self.meanings {
            variables[name] = getenv(Self.prefix + name).map { String(cString: $0) } ?? fallback
        }
        environment = variables
    }

    /// A setting's value.
    func value(_ name: String) throws -> String {
        guard let value = environment[name], !value.isEmpty else {
            throw Problem(description: "\(Self.prefix)\(name) is not set; the settings are\n\(Self.explanation)")
        }
        return value
    }

    /// A setting that is a list of words.
    func words(_ name: String) throws -> [String] { try value(name).split(separator: " ").map(String.init) }

    /// A setting that is a port.
    func port(_ name: String) throws -> Int {
        let text = try value(name)
        guard let port = Int(text) else { throw Problem(description: "\(Self.prefix)\(name) is no port: \(text)") }
        return port
    }

    /// Apple's number of the app.
    func appAppleID() throws -> Int64 {
        let text = try value("APP_APPLE_ID")
        guard let number = Int64(text) else {
            throw Problem(description: "\(Self.prefix)APP_APPLE_ID is no number: \(text)")
        }
        return number
    }

    /// What App Store Connect knows of the app: where it is told, and, where its key is at hand, who may call the Server
    /// API for it.
    func simulatedApp(notificationURL: String) throws -> SimulatedApp {
        let key = (try? value("APPS")).flatMap { try? Self.secret($0 + "/keys/cloudpc-app-store.p8") }
        let privateKey = key.flatMap { try? P256.PrivateKey(pem: String(decoding: $0, as: UTF8.self)) }
        return SimulatedApp(
            bundleID: try value("BUNDLE_ID"), appAppleID: try appAppleID(), notificationURL: notificationURL,
            publicKey: try privateKey?.publicKey().pemRepresentation())
    }

    /// The folder of the running deployment.
    func state() throws -> String {
        guard let state = getenv("PURSER_STATE").map({ String(cString: $0) }), !state.isEmpty else {
            throw Problem(description: "PURSER_STATE, the folder of the running deployment, is not set")
        }
        return state
    }

    /// Who makes login tokens.
    func login() throws -> Issuer { try issuer("LOGIN", usualKey: "keys/cloudpc-login.secret") }
    /// Who makes service tokens.
    func service() throws -> Issuer { try issuer("SERVICE", usualKey: "keys/cloudpc-services.secret") }

    /// Who makes login tokens of the points app, as apps/points.yaml has it.
    func pointsLogin() throws -> Issuer {
        Issuer(
            issuer: "https://login.points.example", audience: "points", keyID: "login-1",
            keyFile: "\(try value("APPS"))/keys/points-login.secret")
    }

    /// Who makes login tokens of the game, as apps/game.yaml has it.
    func gameLogin() throws -> Issuer {
        Issuer(
            issuer: "https://login.game.example", audience: "game", keyID: "login-1",
            keyFile: "\(try value("APPS"))/keys/game-login.secret")
    }

    private func issuer(_ kind: String, usualKey: String) throws -> Issuer {
        let keyFile = try environment[kind + "_KEY_FILE"] ?? "\(value("APPS"))/\(usualKey)"
        return Issuer(
            issuer: try value(kind + "_ISSUER"), audience: try value(kind + "_AUDIENCE"),
            keyID: try value(kind + "_KEY_ID"), keyFile: keyFile)
    }

    /// The bytes of a secret's file, without the line break editors put at its end.
    private static func secret(_ path: String) throws -> [UInt8] {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw Problem(description: "\(path): \(String(cString: strerror(errno)))") }
        defer { close(file) }
        // No secret is longer.
        var buffer = [UInt8](repeating: 0, count: 4_096)
        let count = read(file, &buffer, buffer.count)
        guard count > 0 else { throw Problem(description: "\(path) is empty or cannot be read") }
        var bytes = Array(buffer[..<count])
        while let last = bytes.last, last == 0x0A || last == 0x0D { bytes.removeLast() }
        return bytes
    }
}
