/// Why the server itself refuses a request before a handler sees it.
///
/// `Configuration.errorResponse` turns it into an answer, so that the gateway can speak problem details. After such an
/// answer the connection is closed, because what follows on it cannot be trusted.
public enum HTTPFailure: Error, Sendable, Equatable, CustomStringConvertible {
    /// The head breaks RFC 9112, or is legal but ambiguous. The reason is constant text.
    case malformedRequest(StaticReason)
    /// The body did not arrive within the deadline.
    case bodyTimeout
    /// The body is, or says it is, longer than its route allows (bytes).
    case bodyTooLarge(limit: Int)
    /// A `Content-Encoding` other than `identity`: nothing is decompressed here.
    case unsupportedContentEncoding
    /// More header bytes or fields than allowed.
    case headersTooLarge
    /// The handler's answer cannot be sent.
    case invalidResponse
    /// More requests or body bytes in flight than allowed; which of both is said.
    case overloaded(Resource)
    /// More requests of one client in flight than allowed.
    case tooManyRequests
    /// The server is stopping.
    case stopping
    /// Not HTTP/1.0 or HTTP/1.1.
    case unsupportedVersion

    /// What there is too much of.
    public enum Resource: String, Sendable, Equatable, CaseIterable {
        /// Requests between their head and the end of their answer.
        case requests
        /// Bytes of bodies.
        case bodyBytes = "body_bytes"
    }

    /// What is malformed.
    public enum StaticReason: String, Sendable, Equatable, CaseIterable {
        /// NUL bytes, folded fields, bare line feeds or extra spaces in the head.
        case ambiguousHead = "ambiguous_head"
        /// The method is no token.
        case method = "method"
        /// The request target is no absolute path, or has bytes that must be percent-encoded.
        case target = "target"
        /// A `%` not followed by two hexadecimal digits.
        case percentEncoding = "percent_encoding"
        /// The decoded path or query is no UTF-8, or has control characters, dot segments or encoded slashes.
        case decodedTarget = "decoded_target"
        /// A field name is no token, or a value has control characters or is no UTF-8.
        case header = "header"
        /// `Host` is missing, repeated or no host.
        case host = "host"
        /// `Content-Length` is repeated or no number.
        case contentLength = "content_length"
        /// `Transfer-Encoding` is repeated, other than `chunked`, or joined by `Content-Length`.
        case transferEncoding = "transfer_encoding"
    }

    /// The HTTP status that fits.
    public var status: Int {
        switch self {
        case .malformedRequest: 400
        case .bodyTimeout: 408
        case .bodyTooLarge: 413
        case .unsupportedContentEncoding: 415
        case .tooManyRequests: 429
        case .headersTooLarge: 431
        case .invalidResponse: 500
        case .overloaded, .stopping: 503
        case .unsupportedVersion: 505
        }
    }

    /// A stable, dotted name: `http.malformed_request.host`.
    public var code: String {
        switch self {
        case .malformedRequest(let reason): "http.malformed_request.\(reason.rawValue)"
        case .bodyTimeout: "http.body_timeout"
        case .bodyTooLarge: "http.body_too_large"
        case .unsupportedContentEncoding: "http.unsupported_content_encoding"
        case .headersTooLarge: "http.headers_too_large"
        case .invalidResponse: "http.invalid_response"
        case .overloaded(let resource): "http.overloaded.\(resource.rawValue)"
        case .tooManyRequests: "http.too_many_requests"
        case .stopping: "http.stopping"
        case .unsupportedVersion: "http.unsupported_version"
        }
    }

    /// Whether the same request can succeed later.
    public var isRetryable: Bool {
        switch self {
        case .bodyTimeout, .overloaded, .tooManyRequests, .stopping: true
        default: false
        }
    }

    /// The code.
    public var description: String { code }

    /// The answer used when no hook is configured: the code as plain text, with `Retry-After: 1` where it helps.
    public var plainResponse: HTTPResponse {
        var response = HTTPResponse.text(status, code + "\n")
        if status == 503 || status == 429 { response.headers.append(("Retry-After", "1")) }
        return response
    }
}
