import HTTPClient
import HTTPServer
import JSON
import Messages
import Observability
import Pipeline
import Synchronization
import TestSupport
import Testing

@testable import Gateway

/// The surface behind a real HTTP server: what the server refuses by itself speaks problem details too.
@Suite struct ServerTests {
    private static func start(
        _ door: TestDoor, maximumInFlight: Int = 16, _ more: [String: String] = [:]
    ) throws -> HTTPServer {
        var settings = try AppFolder().settings(more).settings
        settings.port = 0
        settings.maximumInFlight = maximumInFlight
        return try HTTPServer.start(
            settings.serverConfiguration(
                refuse: door.door.refuse, gate: ClientGate(settings.limits, limited: { _ in }, refuse: door.door.refuse)
            ),
            bodyLimit: { _, path in Surfaces.bodyLimit(path: path) }, handler: door.door.answer)
    }

    private static func send(
        _ server: HTTPServer, _ method: String, _ path: String, body: String? = nil, more: [(String, String)] = []
    ) async throws -> HTTPClientResponse {
        let url = "http://127.0.0.1:\(server.port)\(path)"
        let token = try TestTokens.make()
        return try await onThread {
            var client = try HTTPClient.open()
            return try client.send(
                HTTPClientRequest(
                    method, url,
                    headers: [
                        ("Host", "clouds.example"), ("Authorization", "Bearer \(token)"),
                        ("Content-Type", "application/json"),
                    ] + more, body: body.map { Array($0.utf8) }))
        }
    }

    private static func stop(_ server: HTTPServer) async throws {
        try await onThread { server.stop(grace: .seconds(60)) }
    }

    @Test func `a purchase goes in and out over HTTP`() async throws {
        let door = try TestDoor(Samples.everything)
        let server = try Self.start(door)
        let response = try await Self.send(server, "POST", "/api/iap/apple/verify", body: Samples.verifyBody)
        #expect(response.status == 200)
        #expect(try JSONReader.parseObject(response.body)["status"] == "GRANTED")
        #expect(response.header("X-Request-Id")?.count == 36)
        try await Self.stop(server)
    }

    @Test func `what the server refuses is a problem with a request id (S09, S51)`() async throws {
        let door = try TestDoor(Samples.everything)
        let server = try Self.start(door)
        let large = String(repeating: "a", count: 5_000)
        let cases: [(HTTPClientResponse, Int, String)] = [
            (try await Self.send(server, "POST", "/api/iap/orders", body: large), 413, "PAYLOAD_TOO_LARGE"),
            (
                try await Self.send(
                    server, "POST", "/api/iap/orders", body: "{}", more: [("Content-Encoding", "gzip")]), 415,
                "UNSUPPORTED_MEDIA_TYPE"
            ),
            (try await Self.send(server, "GET", "/a%00b"), 400, "MALFORMED_REQUEST"),
        ]
        for (response, status, code) in cases {
            #expect(response.status == status)
            #expect(response.header("Content-Type") == "application/problem+json")
            let body = try JSONReader.parseObject(response.body)
            #expect(body["code"]?.stringValue == code)
            #expect(body["requestId"]?.stringValue == response.header("X-Request-Id"))
        }
        #expect(door.asker.asked.isEmpty)
        try await Self.stop(server)
    }

    @Test func `a request too many is refused at once while the others wait (S42)`() async throws {
        let gate = Gate()
        let door = try TestDoor(asker: WaitingAsker(gate: gate))
        let server = try Self.start(door, maximumInFlight: 1)
        async let first = Self.send(server, "GET", "/api/wallet/balance")
        try await eventually("the first request waits for its answer") { () async in gate.waiting == 1 }
        let second = try await Self.send(server, "GET", "/api/wallet/balance")
        #expect(second.status == 503)
        #expect(second.header("Retry-After") == "1")
        #expect(try JSONReader.parseObject(second.body)["code"] == "SERVICE_BUSY")
        #expect(try JSONReader.parseObject(second.body)["reason"] == "requests")
        #expect(door.metrics.render().contains("purser_gateway_limited_total{limit=\"requests\"} 1\n"))
        gate.open()
        #expect(try await first.status == 200)
        try await Self.stop(server)
    }

    @Test func `an address that asks too often gets 429 with a problem, another behind the same proxy does not (S42)`()
        async throws
    {
        let door = try TestDoor(Samples.everything)
        let server = try Self.start(
            door,
            [
                "PURSER_GATEWAY_TRUSTED_PROXIES": "127.0.0.1", "PURSER_GATEWAY_ADDRESS_RATE": "1",
                "PURSER_GATEWAY_ADDRESS_BURST": "2",
            ])
        func send(_ address: String) async throws -> HTTPClientResponse {
            try await Self.send(server, "GET", "/api/wallet/balance", more: [("X-Forwarded-For", address)])
        }
        // Two at once, and one more for each second that goes by on a slow machine.
        var accepted = 0
        var refused = try await send("1.2.3.4, 203.0.113.1")
        while refused.status == 200, accepted < 1_000 {
            accepted += 1
            refused = try await send("1.2.3.4, 203.0.113.1")
        }
        #expect(accepted >= 2)
        #expect(refused.status == 429)
        #expect(refused.header("Retry-After") == "1")
        let body = try JSONReader.parseObject(refused.body)
        #expect(body["code"] == "TOO_MANY_REQUESTS")
        #expect(body["reason"] == "address_rate")
        #expect(body["requestId"]?.stringValue == refused.header("X-Request-Id"))
        #expect(try await send("203.0.113.2").status == 200)
        #expect(door.asker.asked.count == accepted + 1)
        let metrics = door.metrics.render()
        #expect(metrics.contains("purser_gateway_limited_total{limit=\"address_rate\"} 1\n"))
        #expect(metrics.contains(#"purser_gateway_requests_total{route="-",status="4xx"} 1"# + "\n"))
        // The log names the client, not the proxy.
        let addresses = try door.log.entries("request").map { $0["remote.address"]?.stringValue }
        #expect(addresses == Array(repeating: "203.0.113.1", count: accepted) + ["203.0.113.2"])
        #expect(try door.log.entries("request refused").first?["http.failure"] == "limit.address_rate")
        try await Self.stop(server)
    }

    @Test func `a stop lets requests in flight end`() async throws {
        let gate = Gate()
        let door = try TestDoor(asker: WaitingAsker(gate: gate))
        let server = try Self.start(door)
        async let answer = Self.send(server, "GET", "/api/wallet/balance")
        try await eventually("the request waits for its answer") { () async in gate.waiting == 1 }
        async let stopped: Void = Self.stop(server)
        gate.open()
        #expect(try await answer.status == 200)
        try await stopped
    }
}

/// Holds askers until it is opened.
final class Gate: Sendable {
    private let state = Mutex<(isOpen: Bool, held: [CheckedContinuation<Void, Never>])>((false, []))

    var waiting: Int { state.withLock { $0.held.count } }

    func pass() async {
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                if !state.isOpen { state.held.append(continuation) }
                return state.isOpen
            }
            if isOpen { continuation.resume() }
        }
    }

    func open() {
        let held = state.withLock { state in
            state.isOpen = true
            defer { state.held = [] }
            return state.held
        }
        for continuation in held { continuation.resume() }
    }
}

/// Answers with samples once its gate is open.
struct WaitingAsker: Asker {
    let gate: Gate

    func ask<Question: Message, Answer: Message>(
        _ question: Question, expecting answer: Answer.Type, context: Requester.Context
    ) async throws -> Answer {
        await gate.pass()
        guard let answer = try Samples.everything(question, context) as? Answer else {
            throw RequestError.unreadableAnswer
        }
        return answer
    }

    func tell(_ message: some Message, context: Requester.Context) async throws { await gate.pass() }
}
