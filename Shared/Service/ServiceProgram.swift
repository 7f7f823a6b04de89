public import Observability
public import Runtime

/// What makes an executable a service: its settings, its schema, its parts. ``ServiceMain`` does the rest.
public protocol ServiceProgram {
    /// What the settings become.
    associatedtype Settings: Sendable

    /// The name: prefix of settings, of queues, and the schema, e.g. `granting`.
    static var name: String { get }
    /// What the executable is called: `purser-<name>` for most.
    static var executable: String { get }
    /// The migrations of its schema; empty for a service without one.
    static var migrations: [Migration] { get }
    /// Reads its settings besides the common ones.
    static func readSettings(_ reader: inout SettingsReader) -> Settings
    /// Starts its parts, in dependency order. Throws what keeps it from serving at all.
    static func start(_ settings: Settings, _ context: ServiceContext) throws -> [any ServicePart]
    /// Commands beyond those every service has.
    static var commands: [ServiceCommand] { get }
    /// Checks beyond those every service makes.
    static func check(_ settings: Settings, _ common: CommonSettings) -> [CheckResult]
}

extension ServiceProgram {
    /// What most executables are called.
    public static var executable: String { "purser-\(name)" }
    /// No commands of its own.
    public static var commands: [ServiceCommand] { [] }
    /// No checks of its own.
    public static func check(_ settings: Settings, _ common: CommonSettings) -> [CheckResult] { [] }
}

/// A command of one service's executable. Its settings are read and sound when it runs.
public struct ServiceCommand: Sendable {
    /// The word on the command line.
    public let name: String
    /// The same with its options.
    public let usage: String
    /// Does it, given the words behind its name; returns the exit code. Blocks.
    public let run: @Sendable (_ arguments: [String], _ common: CommonSettings, _ output: (String) -> Void) -> Int32

    /// Composes the command.
    public init(
        name: String, usage: String,
        run:
            @escaping @Sendable (_ arguments: [String], _ common: CommonSettings, _ output: (String) -> Void) -> Int32
    ) {
        self.name = name
        self.usage = usage
        self.run = run
    }
}

/// What a service's parts are made with.
public struct ServiceContext: Sendable {
    /// The settings every service has.
    public let common: CommonSettings
    /// Where to log.
    public let logger: Logger
    /// Where to count.
    public let metrics: Metrics
    /// Raised when the service shall end.
    public let stop: StopSignal
}

/// A running part of a service: a lane, an HTTP server, a requester.
public protocol ServicePart: Sendable {
    /// For logs and readiness.
    var name: String { get }
    /// Whether it does its work at present.
    var isReady: Bool { get }
    /// Ends it; returns when it ended or `limit` has passed, false in the latter case. Own threads only.
    func shutDown(within limit: Duration) -> Bool
}

/// The result of one check of `check`.
public struct CheckResult: Sendable, Equatable {
    /// What was checked.
    public let subject: String
    /// What is wrong and what to do; nil when all is well.
    public let problem: String?

    /// All is well with `subject`, or `problem`.
    public init(_ subject: String, problem: String? = nil) {
        self.subject = subject
        self.problem = problem
    }
}
