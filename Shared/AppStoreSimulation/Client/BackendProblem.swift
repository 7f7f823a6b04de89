public import HTTPClient
public import JSON

/// An answer of the backend that is no success (RFC 9457).
public struct BackendProblem: Sendable, Equatable {
    /// The HTTP status.
    public let status: Int
    /// The stable code, `UNREADABLE_ANSWER` if the body had none.
    public let code: String
    /// What to do.
    public let detail: String
    /// Names the request in the backend's logs.
    public let requestID: String?
    /// Whether the StoreKit transaction may be finished all the same.
    public let mayFinish: Bool
    /// Seconds after which the same request makes sense.
    public let retryAfterSeconds: Int64?
    /// The whole body.
    public let body: JSONObject

    /// Reads an answer with a status of 300 or more.
    init(_ response: HTTPClientResponse) {
        body = (try? JSONReader.parseObject(response.body)) ?? [:]
        status = response.status
        code = body["code"]?.stringValue ?? "UNREADABLE_ANSWER"
        detail = body["detail"]?.stringValue ?? ""
        requestID = body["requestId"]?.stringValue ?? response.header("X-Request-Id")
        mayFinish = body["mayFinish"]?.boolValue ?? false
        // The header is the rule (RFC 9110 §10.2.3), the member a copy of it. Only seconds are understood, no dates.
        retryAfterSeconds = response.header("Retry-After").flatMap { Int64($0) } ?? body["retryAfterSeconds"]?.intValue
    }
}

/// Why a call of the backend gave no success.
public enum BackendError: Error, Sendable, Equatable, CustomStringConvertible {
    /// No complete answer; the backend may have acted all the same.
    case transport(HTTPClientError)
    /// It answered with a problem.
    case problem(BackendProblem)
    /// It answered with success and something that is no such answer.
    case unreadable(JSONError)

    /// A stable name: the problem's own code, or a dotted one.
    public var code: String {
        switch self {
        case .transport(let error): error.code
        case .problem(let problem): problem.code
        case .unreadable(let error): error.code
        }
    }

    /// Whether the same call can succeed by itself soon.
    public var isRetryable: Bool {
        switch self {
        case .transport(let error): error.isRetryable
        case .problem(let problem): problem.status == 503 || problem.status == 429 || problem.status == 408
        case .unreadable: false
        }
    }

    /// Code, status and what to do.
    public var description: String {
        switch self {
        case .transport(let error): error.description
        case .problem(let problem): "\(problem.status) \(problem.code): \(problem.detail)"
        case .unreadable(let error): "unreadable answer: \(error.description)"
        }
    }
}
