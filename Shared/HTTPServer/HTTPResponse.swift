/// An answer. `Content-Length`, `Date` and `Connection` are written by the server.
public struct HTTPResponse: Sendable {
    /// The status, 200…599.
    public var status: Int
    /// Header fields in order. Fields with invalid names or line breaks turn the answer into an internal error.
    public var headers: [(String, String)]
    /// The body; not sent for HEAD, 204 and 304.
    public var body: [UInt8]
    /// Whether the connection is closed after this answer.
    public var closesConnection: Bool
    /// With status 101: who takes the socket over. `Connection: Upgrade` is written by the server.
    public var upgrade: HTTPUpgrade?

    /// An answer.
    public init(status: Int, headers: [(String, String)] = [], body: [UInt8] = [], closesConnection: Bool = false) {
        self.status = status
        self.headers = headers
        self.body = body
        self.closesConnection = closesConnection
    }

    /// A plain text answer.
    public static func text(_ status: Int, _ text: String) -> HTTPResponse {
        HTTPResponse(status: status, headers: [("Content-Type", "text/plain; charset=utf-8")], body: Array(text.utf8))
    }
}
