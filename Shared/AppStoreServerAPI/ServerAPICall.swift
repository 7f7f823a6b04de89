import JSON

/// One request: method, path with query, body, and which limit it counts against.
struct ServerAPICall {
    let method: String
    let path: String
    let body: JSONObject?
    let kind: RateBudget.Class

    init(
        _ method: String, _ path: String, query: [(String, String)] = [], body: JSONObject? = nil,
        _ kind: RateBudget.Class = .ordinary
    ) {
        self.method = method
        self.path =
            query.isEmpty
            ? path : path + "?" + query.map { "\($0.0)=\(Self.escaped($0.1))" }.joined(separator: "&")
        self.body = body
        self.kind = kind
    }

    /// Percent-encoded but for the unreserved characters of RFC 3986 §2.3.
    static func escaped(_ text: String) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E: bytes.append(byte)
            default: bytes += [0x25, digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// A transaction id for a path: digits only, because anything else could change the path.
    static func identifier(_ text: String) throws(ServerAPIError) -> String {
        guard (1...32).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            throw .invalidArgument("transaction id")
        }
        return text
    }

    /// An order id or a token for a path: one escaped segment that is no dot segment.
    static func segment(_ text: String, _ what: String) throws(ServerAPIError) -> String {
        guard (1...256).contains(text.utf8.count), text != ".", text != ".." else { throw .invalidArgument(what) }
        return escaped(text)
    }
}
