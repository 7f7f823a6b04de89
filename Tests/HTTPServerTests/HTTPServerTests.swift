import HTTPServer
import TestSupport
import Testing

@Suite struct HTTPServerTests {
    private static func get(_ path: String, _ more: String = "") -> String {
        "GET \(path) HTTP/1.1\r\nHost: a\r\n\(more)\r\n"
    }

    @Test func `pipelined requests are answered in order on one connection`() async throws {
        try await onThread {
            let fixture = try ServerFixture()
            let client = try RawClient(port: fixture.port)
            let post = "POST /2 HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc"
            client.send(Self.get("/1") + post + Self.get("/3") + post + Self.get("/5"))
            for expected in ["GET /1 ", "POST /2 abc", "GET /3 ", "POST /2 abc", "GET /5 "] {
                #expect(try client.answer()?.body == expected)
            }
            #expect(fixture.server.openConnections == 1)
        }
    }

    @Test(arguments: [1, 2]) func `two hundred requests wait at once and all get their own answer`(_ threads: Int)
        async throws
    {
        try await onThread {
            let fixture = try ServerFixture {
                $0.threads = threads
                $0.maximumConnectionsPerAddress = 0
            }
            let clients = try (0..<200).map { _ in try RawClient(port: fixture.port) }
            for (index, client) in clients.enumerated() {
                client.send("POST /wait HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\n\(100 + index)")
            }
            try eventually("all waiting") { fixture.gate.waiting == 200 }
            #expect(fixture.server.requestsInFlight == 200)
            fixture.gate.open()
            for (index, client) in clients.enumerated() {
                #expect(try client.answer()?.body == "POST /wait \(100 + index)")
            }
            try eventually("none in flight") { fixture.server.requestsInFlight == 0 }
        }
    }

    @Test func `HEAD gets the head only and the connection stays usable`() async throws {
        try await onThread {
            let fixture = try ServerFixture()
            let client = try RawClient(port: fixture.port)
            client.send("HEAD /h HTTP/1.1\r\nHost: a\r\n\r\n" + Self.get("/next"))
            let head = try client.answer(isHead: true)
            #expect(head?.has("Content-Length: 8") == true)
            #expect(try client.answer()?.body == "GET /next ")
        }
    }

    @Test func `204 has no body`() async throws {
        try await onThread {
            let fixture = try ServerFixture()
            let client = try RawClient(port: fixture.port)
            client.send(Self.get("/empty") + Self.get("/next"))
            #expect(try client.answer(isHead: true)?.status == 204)
            #expect(try client.answer()?.body == "GET /next ")
        }
    }

    @Test(arguments: ["/bad-header", "/bad-status"])
    func `an answer that would split the response is an internal error`(_ path: String) async throws {
        try await onThread {
            let fixture = try ServerFixture()
            let client = try RawClient(port: fixture.port)
            client.send(Self.get(path))
            let answer = try client.answer()
            #expect(answer?.status == 500)
            #expect(answer?.body == "http.invalid_response\n")
            #expect(answer?.head.contains("Set-Cookie") == false)
        }
    }

    @Test func `a request carries its parts to the handler`() async throws {
        try await onThread {
            let server = try HTTPServer.start(.init(), bodyLimit: { _, _ in 0 }) { request in
                let query = request.query.map { "\($0.name)=\($0.value)" }.joined(separator: "&")
                let seen =
                    "\(query) \(request.header("x-a") ?? "-") \(request.headerValues("X-A")) \(request.remoteAddress)"
                return .text(200, seen)
            }
            let client = try RawClient(port: server.port)
            client.send(Self.get("/?a=%E8%9B%8B+1&b=&c&d=1=2", "x-A: 1\r\nX-a: 2\r\n"))
            #expect(try client.answer()?.body == #"a=蛋 1&b=&c=&d=1=2 1 ["1", "2"] 127.0.0.1"#)
            server.stop(grace: .zero)
        }
    }

    @Test func `the hook makes the answers of the server itself`() async throws {
        try await onThread {
            let fixture = try ServerFixture {
                $0.errorResponse = { failure in
                    HTTPResponse(
                        status: failure.status, headers: [("Content-Type", "application/problem+json")],
                        body: Array("{\"code\":\"\(failure.code)\"}".utf8))
                }
            }
            let client = try RawClient(port: fixture.port)
            client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1025\r\n\r\n")
            let answer = try client.answer()
            #expect(answer?.status == 413)
            #expect(answer?.has("Content-Type: application/problem+json") == true)
            #expect(answer?.body == #"{"code":"http.body_too_large"}"#)
        }
    }

    @Test func `a client that vanishes before its answer leaves nothing behind`() async throws {
        try await onThread {
            let fixture = try ServerFixture()
            for _ in 0..<20 {
                let client = try RawClient(port: fixture.port)
                client.send(Self.get("/wait"))
                try eventually { fixture.gate.waiting > 0 || !fixture.handled.isEmpty }
                client.disconnect()
            }
            try eventually("all waiting") { fixture.handled.count == 20 }
            fixture.gate.open()
            try eventually("none in flight") { fixture.server.requestsInFlight == 0 }
            try eventually("no connection") { fixture.server.openConnections == 0 }
        }
    }

    @Test func `a client that vanishes inside its body gives its budget back`() async throws {
        try await onThread {
            let fixture = try ServerFixture { $0.maximumBodyBytesInFlight = 1_024 }
            let client = try RawClient(port: fixture.port)
            client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\nabc")
            try eventually("admitted") { fixture.server.requestsInFlight == 1 }
            client.disconnect()
            try eventually("gone") { fixture.server.requestsInFlight == 0 }
            let next = try RawClient(port: fixture.port)
            next.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc")
            #expect(try next.answer()?.body == "POST / abc")
            #expect(fixture.handled == ["POST /"])
        }
    }

    @Test func `a taken port and a bad address are errors`() async throws {
        try await onThread {
            let fixture = try ServerFixture()
            #expect(throws: HTTPServerError.self) { try ServerFixture { $0.port = fixture.port } }
            #expect(throws: HTTPServerError.invalidAddress("localhost")) {
                try ServerFixture { $0.address = "localhost" }
            }
            #expect(throws: HTTPServerError.invalidSetting("threads")) { try ServerFixture { $0.threads = 0 } }
            #expect(throws: HTTPServerError.invalidSetting("headerLimit")) {
                try ServerFixture { $0.headerLimit = 1 << 20 }
            }
            #expect(throws: Never.self) { try ServerFixture { $0.address = "::1" } }
        }
    }
}
