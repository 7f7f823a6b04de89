import AppStoreSimulation
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
    /// Apps to register at the start: a JSON array of the bodies of `PUT /simulator/apps/{bundleId}`.
    let appsFile: String?
    /// How many times faster than Apple notifications are sent again.
    let retryFactor: Int64
    /// How many times faster than real ones the periods of subscriptions pass.
    let acceleration: Int64
    /// Where the certificates say that one can ask whether they are revoked; nil: nowhere.
    let ocspAddress: String?
    /// Notifications posted at the same time.
    let senders: Int
    /// How long one post may take, in seconds.
    let sendTimeout: Int64
    /// The least level that is logged.
    let logLevel: LogLevel

    private static let prefix = "PURSER_SIMULATOR_"
    private static let meanings = [
        ("HTTP_ADDRESS", "where it listens; default 127.0.0.1"),
        ("HTTP_PORT", "its port; default 0: a free one, which is logged"),
        ("STATE", "the folder of keys and purchases; must be set, is made if missing"),
        ("ROOT_FILE", "where the root certificate is written as PEM; default root.pem in the folder"),
        ("APPS_FILE", "a JSON array of apps with their notification addresses and keys; default none"),
        (
            "RETRY_FACTOR",
            "how many times faster than Apple notifications are sent again; default 3600: hours are seconds"
        ),
        ("RENEWAL_FACTOR", "how many times faster than real ones the periods of subscriptions pass; default 1"),
        (
            "OCSP_ADDRESS",
            "the URL of its /ocsp as the certificates shall name it; default none; another one makes new certificates"
        ),
        ("SENDERS", "notifications posted at the same time; default 1: in order, 64 at most"),
        ("SEND_TIMEOUT", "seconds one post may take; default 30, as Apple's"),
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
        func number(_ name: String, _ fallback: Int64, _ range: ClosedRange<Int64>) -> Int64 {
            let number = value(name).map { Int64($0) } ?? fallback
            if let number, range.contains(number) { return number }
            problems.append(
                "\(Self.prefix)\(name) must be a whole number from \(range.lowerBound) to \(range.upperBound).")
            return fallback
        }
        let known = Set(Self.meanings.map { Self.prefix + $0.0 })
        for name in environment.keys.sorted() where name.hasPrefix(Self.prefix) && !known.contains(name) {
            problems.append("\(name) is no setting of the simulator; is it misspelt?")
        }
        address = value("HTTP_ADDRESS") ?? "127.0.0.1"
        port = UInt16(number("HTTP_PORT", 0, 0...65_535))
        state = value("STATE") ?? ""
        if state.isEmpty { problems.append("\(Self.prefix)STATE must be set: the folder of keys and purchases.") }
        rootFile = value("ROOT_FILE") ?? state + "/root.pem"
        appsFile = value("APPS_FILE")
        ocspAddress = value("OCSP_ADDRESS")
        // A factor of a hundred million makes 72 hours 3 ms.
        retryFactor = number("RETRY_FACTOR", 3_600, 1...100_000_000)
        acceleration = number("RENEWAL_FACTOR", 1, 1...100_000_000)
        senders = Int(number("SENDERS", 1, 1...64))
        sendTimeout = number("SEND_TIMEOUT", 30, 1...300)
        let level = LogLevel(rawValue: value("LOG_LEVEL") ?? "info")
        if level == nil { problems.append("\(Self.prefix)LOG_LEVEL must be debug, info, warning or error.") }
        logLevel = level ?? .info
        guard problems.isEmpty else { throw Problems(sentences: problems) }
    }
}
