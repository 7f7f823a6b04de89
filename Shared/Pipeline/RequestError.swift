/// Why a question has no answer. In none of these cases may a client finish a StoreKit transaction: the same request
/// sent again is safe.
public enum RequestError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The broker takes nothing now (alarm), cannot be reached, or no queue takes the question.
    case brokerUnavailable(reason: String)
    /// Too many questions wait already.
    case overloaded
    /// No answer within the patience; it may still be decided.
    case timedOut
    /// A lane parked it: an operator has to look.
    case parked(reason: String)
    /// The answer is of another kind or version than this program knows.
    case unreadableAnswer

    /// The broker has raised an alarm: it takes nothing until memory or disk is free again.
    static let blocked = RequestError.brokerUnavailable(reason: "it is blocked by an alarm")

    /// Stable, dotted.
    public var code: String {
        switch self {
        case .brokerUnavailable: "request.broker_unavailable"
        case .overloaded: "request.overloaded"
        case .timedOut: "request.timed_out"
        case .parked: "request.parked"
        case .unreadableAnswer: "request.unreadable_answer"
        }
    }

    /// Whether asking again later can help without a person doing something first.
    public var isRetryable: Bool {
        switch self {
        case .brokerUnavailable, .overloaded, .timedOut: true
        case .parked, .unreadableAnswer: false
        }
    }

    /// Free of payloads.
    public var description: String {
        switch self {
        case .brokerUnavailable(let reason): "the broker takes no requests now: \(reason)"
        case .overloaded: "too many requests are waiting"
        case .timedOut: "no answer in time; it may still be decided"
        case .parked(let reason): "the request was set aside for an operator: \(reason)"
        case .unreadableAnswer: "the answer cannot be read by this version"
        }
    }
}
