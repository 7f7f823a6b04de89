import HTTPServer
import TestSupport
import Testing

/// Every tolerance of libmicrohttpd that a proxy in front could read differently (S41, S51).
@Suite struct StrictnessTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let request: String
        let code: String
        var status = 400
        var testDescription: String { name }
    }

    private static let host = "Host: a.example\r\n"
    private static let smuggled = "GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n"

    static let refused: [Case] = [
        Case(
            name: "Transfer-Encoding and Content-Length",
            request:
                "POST / HTTP/1.1\r\n\(host)Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n\(smuggled)",
            code: "transfer_encoding"),
        Case(
            name: "two differing Content-Lengths",
            request: "POST / HTTP/1.1\r\n\(host)Content-Length: 3\r\nContent-Length: 0\r\n\r\nabc\(smuggled)",
            code: "content_length"),
        Case(
            name: "two equal Content-Lengths",
            request: "POST / HTTP/1.1\r\n\(host)Content-Length: 3\r\nContent-Length: 3\r\n\r\nabc\(smuggled)",
            code: "content_length"),
        Case(
            name: "Content-Length as a list", request: "POST / HTTP/1.1\r\n\(host)Content-Length: 3, 3\r\n\r\nabc",
            code: "-"),
        Case(
            name: "a signed Content-Length", request: "POST / HTTP/1.1\r\n\(host)Content-Length: +3\r\n\r\nabc",
            code: "-"),
        Case(
            name: "an unknown Transfer-Encoding",
            request: "POST / HTTP/1.1\r\n\(host)Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n", code: "transfer_encoding"
        ),
        Case(
            name: "a list of Transfer-Encodings",
            request: "POST / HTTP/1.1\r\n\(host)Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
            code: "transfer_encoding"),
        Case(
            name: "Transfer-Encoding twice",
            request:
                "POST / HTTP/1.1\r\n\(host)Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            code: "transfer_encoding"),
        Case(
            name: "Transfer-Encoding in HTTP/1.0",
            request: "POST / HTTP/1.0\r\n\(host)Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", code: "transfer_encoding"),
        Case(
            name: "white space before the colon",
            request: "POST / HTTP/1.1\r\n\(host)Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n", code: "header"),
        Case(
            name: "a folded field",
            request: "POST / HTTP/1.1\r\n\(host)Transfer-Encoding:\r\n chunked\r\nX: 1\r\n\r\n0\r\n\r\n\(smuggled)",
            code: "ambiguous_head"),
        Case(
            name: "a field name made by folding",
            request: "POST / HTTP/1.1\r\n\(host)Content-Len: 4\r\n gth\r\nX: 1\r\n\r\nabcd", code: "ambiguous_head"),
        Case(name: "a bare line feed", request: "GET / HTTP/1.1\r\nHost: a\nX: b\r\n\r\n", code: "ambiguous_head"),
        Case(
            name: "a bare line feed after the last field", request: "GET / HTTP/1.1\r\nHost: a\n\r\n",
            code: "ambiguous_head"),
        Case(
            name: "a bare line feed as empty line", request: "GET / HTTP/1.1\r\nHost: a\r\n\n", code: "ambiguous_head"),
        Case(
            name: "a bare carriage return",
            request: "GET / HTTP/1.1\r\nHost: a\r\nX: b\rTransfer-Encoding: chunked\r\n\r\n", code: "header"),
        Case(
            name: "NUL in a field", request: "GET / HTTP/1.1\r\nHost: a\r\nX: b\u{0}c\r\nY: d\r\n\r\n",
            code: "ambiguous_head"),
        Case(name: "NUL in the last field", request: "GET / HTTP/1.1\r\nHost: a\u{0}c\r\n\r\n", code: "ambiguous_head"),
        Case(name: "NUL in the path", request: "GET /k\u{0}x HTTP/1.1\r\n\(host)\r\n", code: "ambiguous_head"),
        Case(name: "two spaces before the path", request: "GET  /k HTTP/1.1\r\n\(host)\r\n", code: "ambiguous_head"),
        Case(name: "an encoded NUL in the path", request: "GET /k%00x HTTP/1.1\r\n\(host)\r\n", code: "decoded_target"),
        Case(name: "an encoded line feed", request: "GET /k%0ax HTTP/1.1\r\n\(host)\r\n", code: "decoded_target"),
        Case(name: "a raw control character", request: "GET /k\u{1}x HTTP/1.1\r\n\(host)\r\n", code: "target"),
        Case(name: "a raw non-ASCII path", request: "GET /é HTTP/1.1\r\n\(host)\r\n", code: "target"),
        Case(name: "a bad escape", request: "GET /%zz HTTP/1.1\r\n\(host)\r\n", code: "percent_encoding"),
        Case(name: "half an escape", request: "GET /a%2 HTTP/1.1\r\n\(host)\r\n", code: "percent_encoding"),
        Case(
            name: "a bad escape in the query", request: "GET /?a=%zz HTTP/1.1\r\n\(host)\r\n", code: "percent_encoding"),
        Case(name: "invalid UTF-8 in the path", request: "GET /%ff HTTP/1.1\r\n\(host)\r\n", code: "decoded_target"),
        Case(name: "an overlong slash", request: "GET /%c0%af HTTP/1.1\r\n\(host)\r\n", code: "decoded_target"),
        Case(name: "dot segments", request: "GET /a/../b HTTP/1.1\r\n\(host)\r\n", code: "decoded_target"),
        Case(name: "encoded dot segments", request: "GET /a/%2e%2e/b HTTP/1.1\r\n\(host)\r\n", code: "decoded_target"),
        Case(name: "an encoded slash", request: "GET /a%2Fb HTTP/1.1\r\n\(host)\r\n", code: "decoded_target"),
        Case(name: "a space in the path", request: "GET /a b HTTP/1.1\r\n\(host)\r\n", code: "target"),
        Case(name: "absolute form", request: "GET http://a.example/ HTTP/1.1\r\n\(host)\r\n", code: "target"),
        Case(name: "asterisk form", request: "OPTIONS * HTTP/1.1\r\n\(host)\r\n", code: "target"),
        Case(name: "authority form", request: "CONNECT a:443 HTTP/1.1\r\n\(host)\r\n", code: "target"),
        Case(name: "a fragment", request: "GET /a#b HTTP/1.1\r\n\(host)\r\n", code: "target"),
        Case(name: "no Host", request: "GET / HTTP/1.1\r\nX: a\r\n\r\n", code: "host"),
        Case(name: "no Host in HTTP/1.0", request: "GET / HTTP/1.0\r\nX: a\r\n\r\n", code: "host"),
        Case(name: "an empty Host", request: "GET / HTTP/1.1\r\nHost:\r\n\r\n", code: "host"),
        Case(name: "two Hosts", request: "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", code: "host"),
        Case(name: "a Host with a path", request: "GET / HTTP/1.1\r\nHost: a/b\r\n\r\n", code: "host"),
        Case(name: "a method that is no token", request: "G(T / HTTP/1.1\r\n\(host)\r\n", code: "method"),
        Case(name: "HTTP/2.0", request: "GET / HTTP/2.0\r\n\(host)\r\n", code: "-", status: 505),
        Case(name: "HTTP/0.9", request: "GET /\r\n\r\n", code: "-"),
        Case(
            name: "a compressed body",
            request: "POST / HTTP/1.1\r\n\(host)Content-Encoding: gzip\r\nContent-Length: 3\r\n\r\nabc",
            code: "http.unsupported_content_encoding", status: 415),
    ]

    @Test(arguments: refused) func `a head that can be read in two ways is refused and the connection closed (S41)`(
        _ example: Case
    ) async throws {
        try await onThread {
            let fixture = try ServerFixture()
            let client = try RawClient(port: fixture.port)
            client.send(example.request)
            let answer = try client.answer()
            #expect(answer?.status == example.status)
            // "-" marks what libmicrohttpd refuses by itself, with its own page (whose head it may send twice).
            if example.code != "-" { #expect(answer?.body.contains(example.code) == true, "\(answer?.body ?? "")") }
            #expect(try client.restUntilClosed().contains("HTTP/1.1 2") == false)
            #expect(fixture.handled == [])
        }
    }

    static let accepted: [(String, String)] = [
        ("GET / HTTP/1.1\r\n\(host)\r\n", "GET / "),
        ("GET /a%20b/%E8%9B%8B HTTP/1.1\r\n\(host)\r\n", "GET /a b/蛋 "),
        ("POST /p HTTP/1.1\r\n\(host)Content-Length: 3\r\n\r\nabc", "POST /p abc"),
        ("POST /p HTTP/1.1\r\n\(host)Content-Length:   3\r\nX:\tb \t\r\n\r\nabc", "POST /p abc"),
        (
            "POST /p HTTP/1.1\r\n\(host)Transfer-Encoding: Chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n",
            "POST /p abcde"
        ),
        ("POST /p HTTP/1.1\r\n\(host)Content-Encoding: identity\r\nContent-Length: 0\r\n\r\n", "POST /p "),
        ("PURGE /x?a=b&c HTTP/1.1\r\n\(host)\r\n", "PURGE /x "),
        ("\r\nGET / HTTP/1.1\r\n\(host)\r\n", "GET / "),
        ("GET / HTTP/1.0\r\n\(host)\r\n", "GET / "),
        ("GET / HTTP/1.1\r\nHost: [::1]:8080\r\nX-Empty:\r\nCookie: a=b; c=d\r\n\r\n", "GET / "),
    ]

    @Test(arguments: accepted) func `what is unambiguous reaches the handler`(_ request: String, _ body: String)
        async throws
    {
        try await onThread {
            let fixture = try ServerFixture()
            let client = try RawClient(port: fixture.port)
            client.send(request)
            let answer = try client.answer()
            #expect(answer?.status == 200)
            #expect(answer?.body == body)
        }
    }

    @Test func `every length of head up to the limit is accepted whole or in pieces, beyond it gets 431 (S09)`()
        async throws
    {
        try await onThread {
            let fixture = try ServerFixture { $0.headerLimit = 16 << 10 }
            for size in [500, 1_000, 8_000, 12_000, 16 << 10, (16 << 10) + 1, 20 << 10, 40 << 10] {
                for pieces in [1, 7] {
                    let client = try RawClient(port: fixture.port)
                    let start = "POST /p HTTP/1.1\r\n\(Self.host)Content-Length: 2\r\n"
                    var head = start
                    while head.utf8.count + 408 < size { head += "X-F: \(String(repeating: "v", count: 393))\r\n" }
                    let rest = size - head.utf8.count - "X-L: \r\n\r\n".utf8.count
                    head += "X-L: \(String(repeating: "l", count: rest))\r\n\r\n"
                    let bytes = Array((head + "ok").utf8)
                    let step = bytes.count / pieces + 1
                    for from in stride(from: 0, to: bytes.count, by: step) {
                        client.send(Array(bytes[from..<min(from + step, bytes.count)]))
                    }
                    let answer = try client.answer()
                    #expect(answer?.status == (size <= 16 << 10 ? 200 : 431), "\(size) in \(pieces)")
                }
            }
        }
    }

    @Test func `too many fields get 431`() async throws {
        try await onThread {
            let fixture = try ServerFixture()
            let client = try RawClient(port: fixture.port)
            client.send("GET / HTTP/1.1\r\n\(Self.host)" + String(repeating: "A: b\r\n", count: 100) + "\r\n")
            #expect(try client.answer()?.status == 431)
            #expect(try client.isClosed())
        }
    }
}
