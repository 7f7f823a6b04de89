/// Why a `Worker` did not serve a request.
public enum WorkerError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The mailbox is full; refused at once, nothing was done.
    case overloaded
    /// The resource cannot be opened at present; nothing was done.
    case unavailable(reason: String)
    /// The worker was stopped before it took the request; nothing was done.
    case stopped
    /// `process` answered another number of results than it got requests: an error in the program, outcome unknown.
    case wrongNumberOfResults

    /// A stable name for logs and metrics.
    public var code: String {
        switch self {
        case .overloaded: "worker.overloaded"
        case .unavailable: "worker.unavailable"
        case .stopped: "worker.stopped"
        case .wrongNumberOfResults: "worker.wrong_number_of_results"
        }
    }

    /// Whether the same request may succeed later.
    public var isRetryable: Bool { self != .wrongNumberOfResults }

    /// What happened, without payloads.
    public var description: String {
        switch self {
        case .overloaded: "too many requests are waiting"
        case .unavailable(let reason): "the resource is not available: \(reason)"
        case .stopped: "the worker has stopped"
        case .wrongNumberOfResults: "a round answered another number of results than it got requests"
        }
    }
}
