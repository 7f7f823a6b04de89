import HTTPServer

/// A limit a request or a connection ran into; the raw value is the label of a metric and the `reason` of the answer.
enum Limit: String, CaseIterable, Sendable {
    /// Too many requests of one address in a second.
    case addressRate = "address_rate"
    /// Too many requests of one user in a second.
    case userRate = "user_rate"
    /// Too many requests of one address at a time.
    case addressRequests = "address_requests"
    /// Too many connections of one address, at a time or in a second; closed without an answer.
    case addressConnections = "address_connections"
    /// Too many open WebSockets of one address.
    case addressSockets = "address_sockets"
    /// Too many open WebSockets of everybody.
    case sockets
    /// Too many receipts of everybody at a time, or too many bytes of them.
    case receipts
    /// Too many requests of everybody at a time.
    case requests
    /// Too many bytes of bodies of everybody at a time.
    case bodyBytes = "body_bytes"

    /// The limit the HTTP server kept, if it was one.
    init?(_ failure: HTTPFailure) {
        switch failure {
        case .tooManyRequests: self = .addressRequests
        case .overloaded(.requests): self = .requests
        case .overloaded(.bodyBytes): self = .bodyBytes
        default: return nil
        }
    }
}
