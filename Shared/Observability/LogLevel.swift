/// How much a log line matters.
public enum LogLevel: String, Sendable, CaseIterable, Comparable {
    /// Only useful while developing.
    case debug
    /// The normal course of things: starts, stops, state changes.
    case info
    /// Something is off but is being handled (a retry, a slow answer).
    case warning
    /// Something needs a person.
    case error

    private var rank: Int {
        switch self {
        case .debug: 0
        case .info: 1
        case .warning: 2
        case .error: 3
        }
    }

    /// `debug` is the smallest, `error` the largest.
    public static func < (left: LogLevel, right: LogLevel) -> Bool { left.rank < right.rank }
}
