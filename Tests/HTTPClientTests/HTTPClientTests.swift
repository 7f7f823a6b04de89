import HTTPClient
import HTTPServer
import TestSupport
import Testing

@Suite struct HTTPClientTests {
    private static func start() throws -> HTTPServer {
        try HTTPServer.start(.init(), bodyLimit: { _, _ in 1 << 20 }) { request in
            switch request.path {
            case "/redirect": return HTTPResponse(status: 302, headers: [("Location", "/elsewhere")])
            case "/large": return HTTPResponse(status: 200, body: [UInt8](repeating: 1, count: 5_000))
            case "/never":
                return await withUnsafeContinuation { (_: UnsafeContinuation<HTTPResponse, Never>) in }
            default:
                let fields = request.headers.filter { $0.name.lowercased() != "host" }
                    .map { "\($0.name)=\($0.value)" }.joined(separator: ";")
                return HTTPResponse(
                    status: 201, headers: [("X-Answer", "yes"), ("X-Fields", fields)],
                    body: Array("\(request.method) \(request.path) ".utf8) + request.body)
            }
        }
    }

    private static func exchange(
        _ request: @escaping @Sendable (_ base: String) -> HTTPClientRequest,
        _ adjust: @escaping @Sendable (inout HTTPClient.Configuration) -> Void = { _ in }
    ) async throws -> Result<HTTPClientResponse, HTTPClientError> {
        try await onThread {
            let server = try start()
            defer { server.stop(grace: .zero) }
            var configuration = HTTPClient.Configuration()
            adjust(&configuration)
            var client = try HTTPClient.open(configuration)
            do throws(HTTPClientError) {
                return .success(try client.send(request("http://127.0.0.1:\(server.port)")))
            } catch {
                return .failure(error)
            }
        }
    }

    @Test(arguments: ["GET", "POST", "PUT", "DELETE", "PATCH"])
    func `method, fields and body arrive as they were given`(_ method: String) async throws {
        let body: [UInt8]? = method == "GET" || method == "DELETE" ? nil : [0x61, 0x00, 0x62]
        let answer = try await Self.exchange {
            HTTPClientRequest(method, "\($0)/p", headers: [("X-One", "1"), ("X-Empty", "")], body: body)
        }.get()
        #expect(answer.status == 201)
        #expect(answer.header("x-answer") == "yes")
        #expect(answer.body == Array("\(method) /p ".utf8) + (body ?? []))
        let fields = answer.header("X-Fields") ?? ""
        #expect(fields.contains("X-One=1"))
        #expect(fields.contains("X-Empty="))
        #expect(!fields.lowercased().contains("content-type"))
        #expect(!fields.lowercased().contains("expect"))
    }

    @Test func `HEAD and an empty body end at once`() async throws {
        let head = try await Self.exchange { HTTPClientRequest("HEAD", "\($0)/large") }.get()
        #expect(head.status == 200)
        #expect(head.body == [])
        #expect(head.header("Content-Length") == "5000")
        let empty = try await Self.exchange { HTTPClientRequest("POST", "\($0)/p", body: []) }.get()
        #expect(empty.header("X-Fields")?.contains("Content-Length=0") == true)
    }

    @Test func `a redirect is an answer, not followed`() async throws {
        let answer = try await Self.exchange { HTTPClientRequest("GET", "\($0)/redirect") }.get()
        #expect(answer.status == 302)
        #expect(answer.header("Location") == "/elsewhere")
    }

    @Test func `an answer longer than allowed is refused`() async throws {
        let result = try await Self.exchange({ HTTPClientRequest("GET", "\($0)/large") }) {
            $0.maximumResponseBytes = 4_999
        }
        guard case .failure(let error) = result else {
            Issue.record("accepted")
            return
        }
        #expect(error == .responseTooLarge(limit: 4_999))
    }

    @Test func `an answer that does not come is a timeout`() async throws {
        let result = try await Self.exchange({ HTTPClientRequest("GET", "\($0)/never") }) {
            $0.timeout = .milliseconds(200)
        }
        guard case .failure(let error) = result else {
            Issue.record("answered")
            return
        }
        #expect(error == .timeout)
        #expect(error.isRetryable)
    }

    static let invalid: [(HTTPClientRequest, String)] = [
        (HTTPClientRequest("GET", "file:///etc/passwd"), "url"), (HTTPClientRequest("GET", "ftp://127.0.0.1/"), "url"),
        (HTTPClientRequest("GET", "http://127.0.0.1/a b"), "url"),
        (HTTPClientRequest("GET", "http://127.0.0.1/\r\n"), "url"),
        (HTTPClientRequest("GET", "http://"), "url"), (HTTPClientRequest("G T", "http://127.0.0.1/"), "method"),
        (HTTPClientRequest("GET", "http://127.0.0.1/", headers: [("X", "a\r\nY: b")]), "header field"),
        (HTTPClientRequest("GET", "http://127.0.0.1/", headers: [("X Y", "a")]), "header field"),
    ]

    @Test(arguments: invalid.indices) func `what must not be sent is refused`(_ index: Int) async throws {
        let (request, what) = Self.invalid[index]
        await #expect(throws: HTTPClientError.invalidRequest(what)) {
            try await onThread {
                var client = try HTTPClient.open()
                _ = try client.send(request)
            }
        }
    }

    @Test func `nobody listening is told apart from an unknown host`() async throws {
        let port = try await onThread {
            let server = try Self.start()
            server.stop(grace: .zero)
            return server.port
        }
        await #expect(throws: HTTPClientError.cannotConnect) {
            try await onThread {
                var client = try HTTPClient.open()
                _ = try client.send(HTTPClientRequest("GET", "http://127.0.0.1:\(port)/"))
            }
        }
        await #expect(throws: HTTPClientError.cannotResolve) {
            try await onThread {
                var client = try HTTPClient.open()
                _ = try client.send(HTTPClientRequest("GET", "http://no-such-host.invalid/"))
            }
        }
    }

    @Test func `a client keeps its connection between requests`() async throws {
        try await onThread {
            let server = try Self.start()
            var client = try HTTPClient.open()
            for _ in 0..<20 {
                _ = try client.send(HTTPClientRequest("POST", "http://127.0.0.1:\(server.port)/p", body: [1]))
            }
            #expect(server.openConnections == 1)
            server.stop(grace: .zero)
        }
    }
}
