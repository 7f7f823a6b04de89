/// What is sent.
public struct HTTPClientRequest: Sendable {
    /// The method, an RFC 9110 token.
    public var method: String
    /// An absolute `http` or `https` URL, already percent-encoded.
    public var url: String
    /// Header fields in order. `Content-Length` and `Host` are libcurl's.
    public var headers: [(String, String)]
    /// The body; nil sends none, empty sends `Content-Length: 0`.
    public var body: [UInt8]?

    /// A request.
    public init(_ method: String, _ url: String, headers: [(String, String)] = [], body: [UInt8]? = nil) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
    }
}
