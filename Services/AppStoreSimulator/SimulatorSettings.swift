import Observability

/// The settings, from `PURSER_SIMULATOR_…` variables.
struct SimulatorSettings: Equatable {
    /// Every problem at once.
    struct Problems: Error, Equatable, CustomStringConvertible {
        let sentences: [String]
        var description: String { sentences.joined(separator: "\n") }
    }

    /// Where it listens.
    let address: String
    /// Its port; 0 takes a free one.
    let port: UInt16
    /// The folder of keys and purchases.
    let state: String
    /// Where the root certificate is written for verifiers to read.
    let rootFile: String
    /// The least level that is logged.
    let logLevel: LogLevel

    private static let prefix = "PURSER_SIMULATOR_"
    private static let meanings = [
        ("HTTP_ADDRESS", "where it listens; default 127.0.0.1"),
        ("HTTP_PORT", "its port; default 0: a free one, which is logged"),
        ("STATE", "the folder of keys and purchases; must be set, is made if missing"),
        ("ROOT_FILE", "where the root certificate is written as PEM; default root.pem in the folder"),
        ("LOG_LEVEL", "debug, info, warning or error; default info"),
    ]

    /// One line a setting.
    static var explanation: String {
        meanings.map { "  \(prefix)\($0.0)  \($0.1)" }.joined(separator: "\n")
    }

    /// Reads them all; a variable with the prefix that is no setting is a problem too, it is usually misspelt.
    init(environment: [String: String]) throws(Problems) {
        var problems: [String] = []
        func value(_ name: String) -> String? { environment[Self.prefix + name].flatMap { $0.isEmpty ? nil : $0 } }
        let known = Set(Self.meanings.map { Self.prefix + $0.0 })
        for name in environment.keys.sorted() where name.hasPrefix(Self.prefix) && !known.contains(name) {
            problems.append("\(name) is no setting of the simulator; is it misspelt?")
        }
        address = value("HTTP_ADDRESS") ?? "127.0.0.1"
        let port = UInt16(value("HTTP_PORT") ?? "0")
        if port == nil { problems.append("\(Self.prefix)HTTP_PORT must be a whole number from 0 to 65535.") }
        self.port = port ?? 0
        state = value("STATE") ?? ""
        if state.isEmpty { problems.append("\(Self.prefix)STATE must be set: the folder of keys and purchases.") }
        rootFile = value("ROOT_FILE") ?? state + "/root.pem"
        let level = LogLevel(rawValue: value("LOG_LEVEL") ?? "info")
        if level == nil { problems.append("\(Self.prefix)LOG_LEVEL must be debug, info, warning or error.") }
        logLevel = level ?? .info
        guard problems.isEmpty else { throw Problems(sentences: problems) }
    }
}
