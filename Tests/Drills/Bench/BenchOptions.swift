import Glibc

/// What a bench is asked for, from the environment (`make bench DURATION=20 ONLY=verify,grant`).
struct BenchOptions {
    /// Parts that can be measured alone.
    enum Part: String, CaseIterable {
        /// Cryptography in process.
        case verify
        /// Granting's transactions in process, with the database.
        case grant
        /// The whole path, everything running.
        case e2e
        /// Apple's notifications: by HTTP with everything running, and refunds in process with the database.
        case notify
        /// Three surfaces at once against one, everything running.
        case surfaces
    }

    /// Parts to measure.
    let parts: [Part]
    /// Seconds of full load.
    let duration: Int
    /// Purchases under way at full load.
    let clients: Int
    /// Where the JSON goes; nil = nowhere.
    let output: String?
    /// Python with Apple's library, or nil.
    let applePython: String?
    /// Why there is none.
    let applePythonMissing: String
    /// A folder on the disk that is measured.
    let folder: String

    /// Reads and checks them.
    init() throws {
        func variable(_ name: String) -> String? {
            getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
        }
        func number(_ name: String, _ fallback: Int, _ range: ClosedRange<Int>) throws -> Int {
            guard let text = variable(name) else { return fallback }
            guard let value = Int(text), range.contains(value) else {
                throw DrillSettings.Problem(description: "\(name)=\(text) is not in \(range)")
            }
            return value
        }
        duration = try number("DURATION", 60, 5...3_600)
        // Two batches of a lane (64 each) at most: one it works on, one that waits. The gateway takes 128 connections
        // of one address.
        clients = try number("CLIENTS", 120, 1...1_000)
        parts = try (variable("ONLY") ?? "verify,grant,e2e,notify,surfaces").split(separator: ",").map { name in
            guard let part = Part(rawValue: String(name)) else {
                throw DrillSettings.Problem(
                    description: "ONLY=\(name): the parts are verify, grant, e2e, notify, surfaces")
            }
            return part
        }
        output = variable("PURSER_BENCH_OUTPUT")
        applePython = variable("PURSER_BENCH_APPLE_PYTHON")
        applePythonMissing = variable("PURSER_BENCH_APPLE_MISSING") ?? "PURSER_BENCH_APPLE_PYTHON is not set"
        folder = variable("PURSER_STATE") ?? "."
    }
}
