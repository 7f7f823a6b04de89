import AppStoreSimulation
import JSON
import TestSupport

/// Bytes for the gateway's port, and what they must be answered with.
struct HostileRequest: Sendable {
    /// How it must end.
    enum Ending: Sendable, Equatable {
        /// With a problem document of this status and code.
        case problem(Int, String)
        /// With a page of libmicrohttpd's own of this status: it does not ask before it refuses.
        case page(Int)
        /// Without any answer.
        case silence
    }

    let name: String
    let bytes: [UInt8]
    let ending: Ending
    /// Whether the connection must be closed: what follows on it cannot be trusted.
    var closes = true

    init(_ name: String, _ text: String, _ ending: Ending, closes: Bool = true) {
        self.init(name, Array(text.utf8), ending, closes: closes)
    }

    init(_ name: String, _ bytes: [UInt8], _ ending: Ending, closes: Bool = true) {
        self.name = name
        self.bytes = bytes
        self.ending = ending
        self.closes = closes
    }

    /// What an answer was, in the words of `ending`.
    static func ending(of answer: RawClient.Answer?) -> Ending {
        guard let answer else { return .silence }
        guard answer.has("Content-Type: application/problem+json"),
            let body = try? JSONReader.parseObject(Array(answer.body.utf8)), let code = body["code"]?.stringValue,
            body["status"]?.intValue == Int64(answer.status), body["requestId"]?.stringValue != nil
        else { return .page(answer.status) }
        return .problem(answer.status, code)
    }

    // MARK: - Heads

    static let host = "Host: a.example\r\n"
    private static let malformed = Ending.problem(400, "MALFORMED_REQUEST")
    private static let path = "/api/wallet/balance"
    private static let smuggled = "GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n"

    private static func post(_ fields: String, _ body: String) -> String {
        "POST /api/iap/orders HTTP/1.1\r\n\(host)\(fields)\r\n\(body)"
    }

    /// Heads that two programs could read in two ways (S41).
    static let framings: [HostileRequest] = [
        HostileRequest(
            "both lengths", post("Transfer-Encoding: chunked\r\nContent-Length: 3\r\n", "0\r\n\r\n" + smuggled),
            malformed),
        HostileRequest(
            "both lengths, the other way round",
            post("Content-Length: 3\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n" + smuggled), malformed),
        HostileRequest(
            "two lengths", post("Content-Length: 3\r\nContent-Length: 30\r\n", "abc" + smuggled), malformed),
        HostileRequest("the same length twice", post("Content-Length: 3\r\nContent-Length: 3\r\n", "abc"), malformed),
        HostileRequest("a list of lengths", post("Content-Length: 3, 3\r\n", "abc"), .page(400)),
        HostileRequest("a negative length", post("Content-Length: -1\r\n", "abc"), .page(400)),
        HostileRequest("a length with a sign", post("Content-Length: +3\r\n", "abc"), .page(400)),
        HostileRequest("a length in hexadecimal", post("Content-Length: 0x3\r\n", "abc"), .page(400)),
        HostileRequest(
            "a length of 2 to the 64th", post("Content-Length: 18446744073709551616\r\n", "abc"), .page(413)),
        HostileRequest("an empty length", post("Content-Length:\r\n", "abc"), .page(400)),
        HostileRequest("gzip, chunked", post("Transfer-Encoding: gzip, chunked\r\n", "0\r\n\r\n"), malformed),
        HostileRequest("identity", post("Transfer-Encoding: identity\r\n", "abc"), malformed),
        HostileRequest("xchunked", post("Transfer-Encoding: xchunked\r\n", "0\r\n\r\n" + smuggled), malformed),
        HostileRequest(
            "chunked twice", post("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"),
            malformed),
        HostileRequest(
            "chunked before a vertical tab", post("Transfer-Encoding: \u{0B}chunked\r\n", "0\r\n\r\n"), malformed),
        HostileRequest(
            "white space before the colon", post("Transfer-Encoding : chunked\r\n", "0\r\n\r\n" + smuggled), malformed),
        HostileRequest("a folded field", post("Transfer-Encoding:\r\n chunked\r\n", "0\r\n\r\n" + smuggled), malformed),
        HostileRequest("a line feed alone", "GET \(path) HTTP/1.1\n\(host)\r\n", malformed),
        HostileRequest("a carriage return inside", "GET \(path) HTTP/1.1\r\n\(host)X: a\rY: b\r\n\r\n", malformed),
        HostileRequest("NUL in a field", "GET \(path) HTTP/1.1\r\n\(host)X: a\u{0}b\r\n\r\n", malformed),
        HostileRequest("a field without a name", "GET \(path) HTTP/1.1\r\n\(host): a\r\n\r\n", malformed),
        HostileRequest("a field without a colon", "GET \(path) HTTP/1.1\r\n\(host)garbage\r\n\r\n", .page(400)),
        HostileRequest("no Host", "GET \(path) HTTP/1.1\r\n\r\n", malformed),
        HostileRequest("two Hosts", "GET \(path) HTTP/1.1\r\n\(host)\(host)\r\n", malformed),
        HostileRequest("a Host with a user", "GET \(path) HTTP/1.1\r\nHost: a@b\r\n\r\n", malformed),
    ]

    /// Chunks that are none; the head before them is good. libmicrohttpd answers them by itself.
    static let chunks: [HostileRequest] = [
        ("a size of letters", 400, "xyz\r\nabc\r\n0\r\n\r\n"), ("a negative size", 400, "-3\r\nabc\r\n0\r\n\r\n"),
        ("a size of 2 to the 64th", 413, "10000000000000000\r\nabc\r\n"),
        ("an empty size", 400, "\r\nabc\r\n0\r\n\r\n"),
        ("a size with 0x", 400, "0x3\r\nabc\r\n0\r\n\r\n"),
        ("a chunk longer than its size", 400, "3\r\nabcdef\r\n0\r\n\r\n"),
        ("an extension of 60,000 bytes", 500, "3;" + String(repeating: "x", count: 60_000) + "\r\nabc\r\n0\r\n\r\n"),
    ].map { name, status, body in HostileRequest(name, post("Transfer-Encoding: chunked\r\n", body), .page(status)) }

    /// Request lines.
    static let lines: [HostileRequest] =
        [
            ("NUL", "/api\u{0}x"), ("an encoded NUL", "/api%00"), ("encoded dots", "/api/%2e%2e/metrics"),
            ("dots", "/api/../x"),
            ("an encoded slash", "/api%2fiap"), ("an encoded backslash and line end", "/%5c%0d%0aX:%20y"),
            ("an overlong slash", "/%c0%af"), ("half an escape", "/%2"), ("no escape", "/%zz"),
            ("a raw byte over 127", "/é"),
            ("the absolute form", "http://a.example\(path)"), ("an asterisk", "*"), ("an authority", "a.example:443"),
            ("a fragment", "\(path)#x"), ("a backslash", "\\api"), ("a space", "/a b"),
            ("sixty-five parameters", "/?" + String(repeating: "a=b&", count: 65)),
        ].map { name, target in HostileRequest(name, "GET \(target) HTTP/1.1\r\n\(host)\r\n", malformed) } + [
            HostileRequest(
                "a method of 33 letters", "\(String(repeating: "G", count: 33)) / HTTP/1.1\r\n\(host)\r\n", malformed),
            HostileRequest("a method that is no token", "G(T / HTTP/1.1\r\n\(host)\r\n", malformed),
            HostileRequest("HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", .page(505)),
            HostileRequest("HTTP/9.9", "GET / HTTP/9.9\r\n\(host)\r\n", .page(505)),
            HostileRequest("no version", "GET /\r\n\r\n", .page(400)),
            HostileRequest(
                "a path of 30,000 bytes", "GET /\(String(repeating: "a", count: 30_000)) HTTP/1.1\r\n\(host)\r\n",
                .problem(431, "HEADERS_TOO_LARGE")),
            HostileRequest(
                "a path of 12,000 bytes", "GET /\(String(repeating: "a", count: 12_000)) HTTP/1.1\r\n\(host)\r\n",
                .problem(404, "NOT_FOUND"), closes: false),
            HostileRequest(
                "a field of 18,000 bytes",
                "GET / HTTP/1.1\r\n\(host)X: \(String(repeating: "a", count: 18_000))\r\n\r\n",
                .problem(431, "HEADERS_TOO_LARGE")),
            HostileRequest(
                "a field of 300,000 bytes",
                "GET / HTTP/1.1\r\n\(host)X: \(String(repeating: "a", count: 300_000))\r\n\r\n", .page(431)),
            HostileRequest(
                "a hundred and one fields", "GET / HTTP/1.1\r\n\(host)\(String(repeating: "A: b\r\n", count: 101))\r\n",
                .problem(431, "HEADERS_TOO_LARGE")),
            HostileRequest(
                "an unknown method", "PURGE \(path) HTTP/1.1\r\n\(host)\r\n", .problem(405, "METHOD_NOT_ALLOWED"),
                closes: false),
            HostileRequest(
                "TRACE", "TRACE \(path) HTTP/1.1\r\n\(host)\r\n", .problem(405, "METHOD_NOT_ALLOWED"), closes: false),
            HostileRequest(
                "an unknown expectation",
                "POST /nowhere HTTP/1.1\r\n\(host)Expect: 200-everything\r\nContent-Length: 0\r\n\r\n",
                .problem(404, "NOT_FOUND"), closes: false),
            HostileRequest(
                "a handshake of TLS",
                [0x16, 3, 1, 2, 0, 1, 0, 1, 0xFC, 3, 3] + [UInt8](repeating: 0xAB, count: 500) + [13, 10, 13, 10],
                .silence),
            HostileRequest(
                "random bytes", (0..<4_000).map { UInt8(truncatingIfNeeded: $0 &* 167 &+ $0 / 7) }, .page(400)),
        ]
}
