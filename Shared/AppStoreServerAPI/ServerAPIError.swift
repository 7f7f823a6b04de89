public import HTTPClient

/// Why a call of the App Store Server API has no result.
public enum ServerAPIError: Error, Sendable, Equatable {
    /// An argument that Apple could not understand, or that would change the path of the request. Nothing was sent.
    case invalidArgument(String)
    /// The private key cannot sign.
    case unusableKey
    /// 401: wrong kind of key, issuer, key id, bundle id or clock, or an app without a released version. It meets every
    /// request of the app, so the next ones are not sent until the breaker lets one through.
    case unauthorized
    /// Not sent: an earlier request was answered 401. Milliseconds until the next one is tried.
    case authorizationPaused(milliseconds: Int64)
    /// Not sent, or 429: the app's rate is used up. Milliseconds to wait.
    case rateLimited(milliseconds: Int64)
    /// An error status, with Apple's number if the body held one.
    case refused(status: Int, code: ServerAPIErrorCode?)
    /// A success status with a body that is cut off, no JSON, or not what is documented.
    case unreadable(String)
    /// No complete answer.
    case transport(HTTPClientError)

    /// A stable dotted name.
    public var code: String {
        switch self {
        case .invalidArgument: "server_api.invalid_argument"
        case .unusableKey: "server_api.unusable_key"
        case .unauthorized: "server_api.unauthorized"
        case .authorizationPaused: "server_api.authorization_paused"
        case .rateLimited: "server_api.rate_limited"
        case .refused: "server_api.refused"
        case .unreadable: "server_api.unreadable"
        case .transport: "server_api.transport"
        }
    }

    /// Whether the same call can succeed later.
    public var isRetryable: Bool {
        switch self {
        case .invalidArgument, .unusableKey: false
        case .unauthorized, .authorizationPaused, .rateLimited, .unreadable, .transport: true
        case .refused(let status, let code): code?.isRetryable ?? (status >= 500 || status == 429)
        }
    }
}

extension ServerAPIError: CustomStringConvertible {
    /// One sentence without token, path or body.
    public var description: String {
        switch self {
        case .invalidArgument(let what): "not a valid \(what)"
        case .unusableKey: "the private key cannot sign; is it a P-256 key of App Store Connect?"
        case .unauthorized:
            "Apple answered 401: check the kind of key (In-App Purchase), issuer id, key id, bundle id and the clock; "
                + "an app without a released version is refused in Production"
        case .authorizationPaused(let milliseconds): "not asked for \(milliseconds) ms more, because Apple answered 401"
        case .rateLimited(let milliseconds): "the app's rate is used up for \(milliseconds) ms"
        case .refused(let status, let code):
            "Apple answered \(status)"
                + (code.map { ", \($0.rawValue)\($0.name.map { " \($0)" } ?? "")" } ?? " without an error code")
        case .unreadable(let what): "Apple's answer is not what is documented: \(what)"
        case .transport(let error): "no answer from Apple: \(error)"
        }
    }
}
