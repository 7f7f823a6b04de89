/// What came back.
public struct HTTPClientResponse: Sendable {
    /// The status of the final answer; redirects are answers like any other.
    public var status: Int
    /// The header fields in order.
    public var headers: [(name: String, value: String)]
    /// The body as it was sent; nothing is decompressed.
    public var body: [UInt8]

    /// An answer, for tests of callers.
    public init(status: Int, headers: [(name: String, value: String)] = [], body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// The value of the first field with this name, ASCII case ignored.
    public func header(_ name: String) -> String? {
        headers.first { $0.name.lowercased() == name.lowercased() }?.value
    }
}
