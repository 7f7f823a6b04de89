import HTTPServer
import Synchronization
import TestSupport
import Testing

/// Who is let in, and how those are treated who are not (S42).
@Suite struct GatekeeperTests {
    /// Refuses `/limited`, lets 127.0.0.3 in without limits, and everybody else as the server's limits say.
    private struct TestGate: Gatekeeper {
        func admitsConnection(from peer: IPAddress, open: Int, limit: Int) -> Bool {
            peer.description == "127.0.0.3" || limit == 0 || open < limit
        }

        func judge(_ head: HTTPRequest, from peer: IPAddress) -> Admittance {
            if head.path == "/limited" {
                return .refused(HTTPResponse(status: 429, headers: [("Retry-After", "7")], body: Array("no".utf8)))
            }
            return .admitted(client: peer, isLimited: peer.description != "127.0.0.3")
        }

        func answersUnreadableHead(from peer: IPAddress) -> Bool { peer.description != "127.0.0.2" }
    }

    private static func server(_ adjust: (inout HTTPServer.Configuration) -> Void = { _ in }) throws -> ServerFixture {
        try ServerFixture {
            $0.gatekeeper = TestGate()
            adjust(&$0)
        }
    }

    private static func get(_ path: String) -> String { "GET \(path) HTTP/1.1\r\nHost: a\r\n\r\n" }

    @Test(arguments: ["", String(repeating: "x", count: 1_000), String(repeating: "x", count: 60_000)])
    func `a refusal is told after its delay, its body is read past, and the connection stays`(
        _ body: String
    ) async throws {
        try await onThread {
            let fixture = try Self.server { $0.refusalDelay = .milliseconds(300) }
            let client = try RawClient(port: fixture.port)
            let start = ContinuousClock.now
            client.send("POST /limited HTTP/1.1\r\nHost: a\r\nContent-Length: \(body.utf8.count)\r\n\r\n" + body)
            let answer = try client.answer()
            #expect(ContinuousClock.now - start >= .milliseconds(300))
            #expect(answer?.status == 429)
            #expect(answer?.has("Retry-After: 7") == true)
            #expect(answer?.body == "no")
            client.send(Self.get("/after"))
            #expect(try client.answer()?.body == "GET /after ")
            #expect(fixture.handled == ["GET /after"])
        }
    }

    @Test func `requests sent behind a held one wait for it`() async throws {
        try await onThread {
            let fixture = try Self.server { $0.refusalDelay = .milliseconds(200) }
            let client = try RawClient(port: fixture.port)
            let start = ContinuousClock.now
            client.send(Self.get("/limited") + Self.get("/limited") + Self.get("/after"))
            #expect(try client.answer()?.status == 429)
            #expect(try client.answer()?.status == 429)
            #expect(try client.answer()?.status == 200)
            #expect(ContinuousClock.now - start >= .milliseconds(400), "one refusal a delay and connection")
        }
    }

    @Test(arguments: ["Content-Length: 65537", "Transfer-Encoding: chunked"])
    func `a refusal whose body is not worth reading is told at once and closes`(_ framing: String) async throws {
        try await onThread {
            let fixture = try Self.server { $0.refusalDelay = .seconds(30) }
            let client = try RawClient(port: fixture.port)
            client.send("POST /limited HTTP/1.1\r\nHost: a\r\n\(framing)\r\n\r\n")
            let answer = try client.answer()
            #expect(answer?.status == 429)
            #expect(answer?.has("Connection: close") == true)
            #expect(try client.isClosed())
        }
    }

    @Test func `without a place to wait a refusal is told at once and closes`() async throws {
        try await onThread {
            let fixture = try Self.server {
                // A quarter of the connections may be held: two.
                $0.maximumConnections = 8
                $0.refusalDelay = .seconds(2)
            }
            let held = try (0..<2).map { _ in try RawClient(port: fixture.port) }
            for client in held { client.send(Self.get("/limited")) }
            var clients: [RawClient] = []
            // The two may be read after the third; then one of them is told at once instead.
            try eventually("somebody is told at once") {
                let client = try RawClient(port: fixture.port)
                clients.append(client)
                client.send(Self.get("/limited"))
                let answer = try client.answer()
                #expect(answer?.status == 429)
                return answer?.has("Connection: close") == true
            }
            for client in held { #expect(try client.answer()?.status == 429) }
        }
    }

    @Test func `a held refusal takes no place from the requests in flight`() async throws {
        try await onThread {
            let fixture = try Self.server {
                $0.maximumInFlight = 1
                $0.refusalDelay = .seconds(30)
            }
            let held = try RawClient(port: fixture.port)
            held.send(Self.get("/limited"))
            let other = try RawClient(port: fixture.port)
            other.send(Self.get("/"))
            #expect(try other.answer()?.status == 200)
            // The answer is out before the request is counted off.
            try eventually("nothing is in flight") { fixture.server.requestsInFlight == 0 }
        }
    }

    @Test func `a stop tells held refusals and does not abort`() async throws {
        try await onThread {
            let fixture = try Self.server { $0.refusalDelay = .seconds(30) }
            let clients = try (0..<20).map { _ in try RawClient(port: fixture.port) }
            for client in clients { client.send(Self.get("/limited")) }
            let probe = try RawClient(port: fixture.port)
            probe.send(Self.get("/"))
            #expect(try probe.answer()?.status == 200, "everything sent before has been read")
            let start = ContinuousClock.now
            fixture.server.stop(grace: .seconds(120))
            #expect(ContinuousClock.now - start < .seconds(60))
            // Told or closed, but never left.
            for client in clients { _ = try client.answer() }
        }
    }

    @Test func `one address has its share of the requests in flight, others have theirs (S42)`() async throws {
        try await onThread {
            let fixture = try Self.server {
                $0.maximumInFlight = 10
                $0.maximumInFlightPerAddress = 2
                $0.refusalDelay = .zero
            }
            let waiting = try (0..<2).map { _ in try RawClient(port: fixture.port) }
            for client in waiting { client.send(Self.get("/wait")) }
            try eventually { fixture.gate.waiting == 2 }
            let surplus = try RawClient(port: fixture.port)
            surplus.send(Self.get("/"))
            let answer = try surplus.answer()
            #expect(answer?.status == 429)
            #expect(answer?.has("Retry-After: 1") == true)
            #expect(answer?.body == "http.too_many_requests\n")
            let neighbour = try RawClient(port: fixture.port, from: "127.0.0.2")
            neighbour.send(Self.get("/"))
            #expect(try neighbour.answer()?.status == 200)
            let exempt = try (0..<3).map { _ in try RawClient(port: fixture.port, from: "127.0.0.3") }
            for client in exempt { client.send(Self.get("/wait")) }
            try eventually { fixture.gate.waiting == 5 }
            fixture.gate.open()
            for client in waiting + exempt { #expect(try client.answer()?.status == 200) }
            let next = try RawClient(port: fixture.port)
            next.send(Self.get("/"))
            #expect(try next.answer()?.status == 200, "what was answered is not counted any more")
        }
    }

    @Test func `connections are counted by address, closed ones no more, and not where the gate says so (S42)`()
        async throws
    {
        try await onThread {
            let fixture = try Self.server { $0.maximumConnectionsPerAddress = 2 }
            let first = try (0..<2).map { _ in try RawClient(port: fixture.port, from: "127.0.0.2") }
            try eventually { fixture.server.openConnections == 2 }
            #expect(try RawClient(port: fixture.port, from: "127.0.0.2").isClosed())
            let others = try (0..<5).map { _ in try RawClient(port: fixture.port, from: "127.0.0.3") }
            let neighbour = try RawClient(port: fixture.port)
            for client in others + [neighbour] {
                client.send(Self.get("/"))
                #expect(try client.answer()?.status == 200)
            }
            first[0].disconnect()
            try eventually { fixture.server.openConnections == 7 }
            let next = try RawClient(port: fixture.port, from: "127.0.0.2")
            next.send(Self.get("/"))
            #expect(try next.answer()?.status == 200)
        }
    }

    @Test func `heads that cannot be read are not answered where the gate says so`() async throws {
        try await onThread {
            let fixture = try Self.server()
            for (address, status) in [("127.0.0.1", 400 as Int?), ("127.0.0.2", nil)] {
                let client = try RawClient(port: fixture.port, from: address)
                client.send("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n")
                #expect(try client.answer()?.status == status)
                #expect(try client.isClosed())
            }
        }
    }

    @Test func `hostile bodies of 256 KiB take no more memory than the budget (S09)`() async throws {
        try await onThread {
            let fixture = try Self.server {
                $0.maximumBodyBytesInFlight = 4 << 20
                $0.maximumInFlightPerAddress = 0
            }
            // Forty bodies: 10 MiB. Sixteen fit.
            let length = 256 << 10
            let clients = try (0..<40).map { _ in try RawClient(port: fixture.port) }
            for (index, client) in clients.enumerated() {
                client.send("POST /large HTTP/1.1\r\nHost: a\r\nContent-Length: \(length)\r\n\r\n")
                if index < 16 {
                    try eventually { fixture.server.bodyBytesInFlight == (index + 1) * length }
                } else {
                    #expect(try client.answer()?.status == 503)
                }
            }
            #expect(fixture.server.bodyBytesInFlight == 4 << 20)
            for client in clients.prefix(16) { client.send([UInt8](repeating: 120, count: length)) }
            for client in clients.prefix(16) { #expect(try client.answer()?.status == 200) }
            #expect(fixture.server.bodyBytesInFlight == 0)
        }
    }
}
