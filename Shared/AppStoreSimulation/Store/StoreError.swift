/// Why the simulated store did not do what it was asked for.
public enum StoreError: Error, Sendable, Equatable, CustomStringConvertible {
    /// A field of the request is missing or wrong.
    case invalid(field: String, problem: String)
    /// No such transaction in this environment.
    case unknownTransaction
    /// The overridden transaction id is taken.
    case transactionExists
    /// No purchase waits under this id.
    case unknownPending
    /// The state folder cannot be read or written.
    case storage(path: String, problem: String)
    /// OpenSSL could not sign.
    case signing
    /// The simulator's address could not be reached, or the connection broke: the request may have been carried out.
    case unreachable(String)
    /// The simulator answered with an error.
    case refused(status: Int, code: String)

    /// A stable, dotted name.
    public var code: String {
        switch self {
        case .invalid: "store.invalid_request"
        case .unknownTransaction: "store.unknown_transaction"
        case .transactionExists: "store.transaction_exists"
        case .unknownPending: "store.unknown_pending"
        case .storage: "store.storage"
        case .signing: "store.signing"
        case .unreachable: "store.unreachable"
        case .refused(_, let code): code
        }
    }

    /// Whether the same request can succeed later.
    public var isRetryable: Bool {
        switch self {
        case .storage, .unreachable: true
        case .refused(let status, _): status >= 500
        case .invalid, .unknownTransaction, .transactionExists, .unknownPending, .signing: false
        }
    }

    /// The code and what is known.
    public var description: String {
        switch self {
        case .invalid(let field, let problem): "\(code): \(field) \(problem)"
        case .storage(let path, let problem): "\(code): \(path): \(problem)"
        case .unreachable(let problem): "\(code): \(problem)"
        case .refused(let status, _): "\(code) (status \(status))"
        default: code
        }
    }
}
