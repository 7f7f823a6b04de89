import HTTPServer
import TestSupport
import Testing

/// What is too much is refused early, and what is too slow is ended (S09, S41, S42).
@Suite struct HTTPServerLimitsTests {
    private static func post(_ path: String, length: Int) -> String {
        "POST \(path) HTTP/1.1\r\nHost: a\r\nContent-Length: \(length)\r\n\r\n"
    }

    @Test func `a body that says it is too long is refused before a byte of it is sent`() async throws {
        try await onThread {
            let fixture = try ServerFixture(bodyLimit: 10)
            let client = try RawClient(port: fixture.port)
            client.send(Self.post("/p", length: 11))
            #expect(try client.answer()?.status == 413)
            #expect(try client.isClosed())
            let exact = try RawClient(port: fixture.port)
            exact.send(Self.post("/p", length: 10) + "0123456789")
            #expect(try exact.answer()?.status == 200)
        }
    }

    @Test func `Expect 100-continue is answered by 413 instead of 100`() async throws {
        try await onThread {
            let fixture = try ServerFixture(bodyLimit: 10)
            let refused = try RawClient(port: fixture.port)
            refused.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 11\r\nExpect: 100-continue\r\n\r\n")
            #expect(try refused.answer()?.status == 413)
            let accepted = try RawClient(port: fixture.port)
            accepted.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n")
            #expect(try accepted.answer(isHead: true)?.status == 100)
            accepted.send("ok")
            #expect(try accepted.answer()?.body == "POST / ok")
        }
    }

    @Test func `a chunked body is cut off at the limit of its route`() async throws {
        try await onThread {
            let fixture = try ServerFixture(bodyLimit: 10)
            let client = try RawClient(port: fixture.port)
            client.send(
                "POST /p HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n6\r\nabcdef\r\n5\r\nabcde\r\n")
            #expect(try client.answer()?.status == 413)
            #expect(try client.isClosed())
            #expect(fixture.handled == [])
            try eventually { fixture.server.requestsInFlight == 0 }
        }
    }

    @Test func `the limit is the route's own`() async throws {
        try await onThread {
            let fixture = try ServerFixture(bodyLimit: 10)
            let client = try RawClient(port: fixture.port)
            let body = [UInt8](repeating: 120, count: 4 << 20)
            client.send(Self.post("/large", length: body.count))
            client.send(body)
            #expect(try client.answer()?.body.utf8.count == body.count + "POST /large ".utf8.count)
        }
    }

    @Test func `paths with a share of their own take nothing of the others, nor the others of theirs`() async throws {
        try await onThread {
            let fixture = try ServerFixture {
                $0.maximumInFlight = 1
                $0.apart = [
                    HTTPServer.Apart(.init(requests: 1, bodyBytes: 100)) { $0 == "/apart" || $0 == "/wait" },
                    HTTPServer.Apart(.init(requests: 1, bodyBytes: 200)) { $0 == "/third" },
                ]
            }
            let waiting = try RawClient(port: fixture.port)
            waiting.send("GET /wait HTTP/1.1\r\nHost: a\r\n\r\n")
            try eventually { fixture.gate.waiting == 1 }
            let surplus = try RawClient(port: fixture.port)
            surplus.send("GET /apart HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(try surplus.answer()?.body == "http.overloaded.requests\n")
            // A usual request still has the one place there is.
            let usual = try RawClient(port: fixture.port)
            usual.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(try usual.answer()?.status == 200)
            fixture.gate.open()
            #expect(try waiting.answer()?.status == 200)
            let large = try RawClient(port: fixture.port)
            large.send(Self.post("/apart", length: 101))
            #expect(try large.answer()?.body == "http.overloaded.body_bytes\n")
            let third = try RawClient(port: fixture.port)
            third.send(Self.post("/third", length: 101) + String(repeating: "x", count: 101))
            #expect(try third.answer()?.status == 200)
            let fitting = try RawClient(port: fixture.port)
            fitting.send(Self.post("/apart", length: 2) + "ok")
            #expect(try fitting.answer()?.status == 200)
        }
    }

    @Test func `requests over the limit in flight get 503 before their body is read`() async throws {
        try await onThread {
            let fixture = try ServerFixture { $0.maximumInFlight = 2 }
            let waiting = try (0..<2).map { _ in try RawClient(port: fixture.port) }
            for client in waiting { client.send("GET /wait HTTP/1.1\r\nHost: a\r\n\r\n") }
            try eventually { fixture.gate.waiting == 2 }
            let surplus = try RawClient(port: fixture.port)
            surplus.send(Self.post("/", length: 100))
            let answer = try surplus.answer()
            #expect(answer?.status == 503)
            #expect(answer?.has("Retry-After: 1") == true)
            #expect(answer?.body == "http.overloaded.requests\n")
            fixture.gate.open()
            for client in waiting { #expect(try client.answer()?.status == 200) }
            let next = try RawClient(port: fixture.port)
            next.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(try next.answer()?.status == 200)
        }
    }

    @Test func `announced body bytes over the budget get 503 (S09)`() async throws {
        try await onThread {
            let fixture = try ServerFixture { $0.maximumBodyBytesInFlight = 1_500 }
            let first = try RawClient(port: fixture.port)
            first.send(Self.post("/", length: 1_000))
            try eventually { fixture.server.requestsInFlight == 1 }
            let second = try RawClient(port: fixture.port)
            second.send(Self.post("/", length: 600))
            #expect(try second.answer()?.status == 503)
            first.send([UInt8](repeating: 120, count: 1_000))
            #expect(try first.answer()?.status == 200)
        }
    }

    @Test func `one address gets a limited number of connections`() async throws {
        try await onThread {
            let fixture = try ServerFixture { $0.maximumConnectionsPerAddress = 3 }
            let allowed = try (0..<3).map { _ in try RawClient(port: fixture.port) }
            try eventually { fixture.server.openConnections == 3 }
            let surplus = try RawClient(port: fixture.port)
            surplus.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(try surplus.isClosed())
            for client in allowed {
                client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
                #expect(try client.answer()?.status == 200)
            }
        }
    }

    @Test func `a body that trickles in byte by byte ends at its deadline with 408 (S41)`() async throws {
        try await onThread {
            let fixture = try ServerFixture { $0.bodyDeadline = .milliseconds(400) }
            let client = try RawClient(port: fixture.port)
            let start = ContinuousClock.now
            client.send(Self.post("/", length: 1_000))
            // Never silent for long, so only an absolute deadline can end it.
            try eventually(within: .seconds(60), every: .milliseconds(20), "cut off") { !client.send("a") }
            #expect(ContinuousClock.now - start >= .milliseconds(400))
            try eventually { fixture.server.requestsInFlight == 0 }
            #expect(fixture.handled == [])
        }
    }

    @Test func `a body that stops gets 408`() async throws {
        try await onThread {
            let fixture = try ServerFixture { $0.bodyDeadline = .milliseconds(200) }
            let client = try RawClient(port: fixture.port)
            client.send(Self.post("/", length: 1_000) + "abc")
            let answer = try client.answer()
            #expect(answer?.status == 408)
            #expect(answer?.body == "http.body_timeout\n")
            #expect(try client.isClosed())
        }
    }

    @Test(arguments: ["", "G", "GET / HTTP/1.1\r\nHost: a\r\nX-Slow: "])
    func `a head that does not come to its end is ended at its deadline (S41)`(_ start: String) async throws {
        try await onThread {
            let fixture = try ServerFixture { $0.headDeadline = .milliseconds(300) }
            let client = try RawClient(port: fixture.port)
            client.send(start)
            if start.isEmpty {
                #expect(try client.isClosed())
            } else {
                try eventually(within: .seconds(60), every: .milliseconds(20), "cut off") { !client.send("a") }
            }
            try eventually { fixture.server.openConnections == 0 }
        }
    }

    @Test func `a handler may take longer than every deadline`() async throws {
        try await onThread {
            let fixture = try ServerFixture {
                // Long enough for a busy machine to read what was sent at once.
                $0.headDeadline = .seconds(2)
                $0.bodyDeadline = .seconds(2)
                $0.answerDeadline = .seconds(2)
            }
            let client = try RawClient(port: fixture.port)
            client.send("GET /wait HTTP/1.1\r\nHost: a\r\n\r\n")
            try eventually { fixture.gate.waiting == 1 }
            let idle = try RawClient(port: fixture.port)
            #expect(try idle.isClosed(), "an idle connection shows that the deadlines are over")
            fixture.gate.open()
            #expect(try client.answer()?.status == 200)
        }
    }

    @Test func `a client that does not take its answer is ended at its deadline`() async throws {
        try await onThread {
            let fixture = try ServerFixture { $0.answerDeadline = .milliseconds(300) }
            let client = try RawClient(port: fixture.port, receiveBuffer: 4_096)
            client.send("GET /big HTTP/1.1\r\nHost: a\r\n\r\n")
            try eventually { fixture.handled.count == 1 }
            try eventually("ended") { fixture.server.openConnections == 0 }
            #expect(fixture.server.requestsInFlight == 0)
        }
    }
}
