/// Why no complete answer came back. A status of 400 or 500 is an answer, not an error.
public enum HTTPClientError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The request cannot be sent: a URL, method or header field is invalid. The text names which.
    case invalidRequest(String)
    /// libcurl could not be set up.
    case unavailable
    /// The host has no address.
    case cannotResolve
    /// The name stands for an address within this machine or its networks, which the configuration refuses.
    case privateAddress
    /// Nobody listens, or the connection was refused.
    case cannotConnect
    /// Not finished within the time given.
    case timeout
    /// The TLS handshake or the certificate failed.
    case tlsFailed
    /// The answer is longer than allowed (bytes).
    case responseTooLarge(limit: Int)
    /// The connection broke, or the answer is no HTTP; libcurl's code.
    case transfer(curl: Int)

    /// A stable, dotted name.
    public var code: String {
        switch self {
        case .invalidRequest: "http_client.invalid_request"
        case .unavailable: "http_client.unavailable"
        case .cannotResolve: "http_client.cannot_resolve"
        case .privateAddress: "http_client.private_address"
        case .cannotConnect: "http_client.cannot_connect"
        case .timeout: "http_client.timeout"
        case .tlsFailed: "http_client.tls_failed"
        case .responseTooLarge: "http_client.response_too_large"
        case .transfer: "http_client.transfer"
        }
    }

    /// Whether the same request can succeed later. The other side may have acted on it all the same.
    public var isRetryable: Bool {
        switch self {
        case .cannotResolve, .cannotConnect, .timeout, .transfer, .unavailable: true
        case .invalidRequest, .tlsFailed, .responseTooLarge, .privateAddress: false
        }
    }

    /// The code and what is known, without URL, header fields or body.
    public var description: String {
        switch self {
        case .invalidRequest(let what): "\(code): \(what)"
        case .responseTooLarge(let limit): "\(code): more than \(limit) bytes"
        case .transfer(let curl): "\(code): libcurl \(curl)"
        default: code
        }
    }
}
