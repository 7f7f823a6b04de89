/// A request whose head was checked and whose body was read completely.
public struct HTTPRequest: Sendable {
    /// The method as it was written, an RFC 9110 token: `GET`, `POST`, `HEAD`, or anything a client invents.
    public var method: String
    /// The percent-decoded path: starts with `/`, valid UTF-8, no control characters, no `.` or `..` segments.
    public var path: String
    /// The decoded query parameters in order; a parameter without `=` has an empty value.
    public var query: [(name: String, value: String)]
    /// The header fields in order, names as written, values trimmed.
    public var headers: [(name: String, value: String)]
    /// The body; empty if there was none.
    public var body: [UInt8]
    /// The numeric address of the peer (the reverse proxy's, if there is one).
    public var remoteAddress: String
    /// Who is behind the peer, as the server's gatekeeper found; nil if nobody looked.
    public var client: IPAddress?

    /// A request, for tests of handlers.
    public init(
        method: String, path: String, query: [(name: String, value: String)] = [],
        headers: [(name: String, value: String)] = [], body: [UInt8] = [], remoteAddress: String = "127.0.0.1",
        client: IPAddress? = nil
    ) {
        self.method = method
        self.path = path
        self.query = query
        self.headers = headers
        self.body = body
        self.remoteAddress = remoteAddress
        self.client = client
    }

    /// The value of the first field with this name, ASCII case ignored.
    public func header(_ name: String) -> String? {
        headers.first { ASCII.equalIgnoringCase($0.name, name) }?.value
    }

    /// The values of every field with this name, in order.
    public func headerValues(_ name: String) -> [String] {
        headers.filter { ASCII.equalIgnoringCase($0.name, name) }.map(\.value)
    }

    /// The value of the first query parameter with this name.
    public func queryValue(_ name: String) -> String? {
        query.first { $0.name == name }?.value
    }
}
