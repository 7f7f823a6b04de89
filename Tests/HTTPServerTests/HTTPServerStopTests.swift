import HTTPServer
import Runtime
import TestSupport
import Testing

@Suite struct HTTPServerStopTests {
    private static let wait = "GET /wait HTTP/1.1\r\nHost: a\r\n\r\n"

    @Test func `requests in flight finish within the grace, new ones are refused`() async throws {
        try await onThread {
            let fixture = try ServerFixture()
            let idle = try RawClient(port: fixture.port)
            let waiting = try RawClient(port: fixture.port)
            waiting.send(Self.wait)
            try eventually { fixture.gate.waiting == 1 && fixture.server.openConnections == 2 }
            let stopper = NamedThread.start(name: "stop") { fixture.server.stop(grace: .seconds(60)) }
            try eventually("no new connections") { (try? RawClient(port: fixture.port)) == nil }
            idle.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            let refused = try idle.answer()
            #expect(refused?.status == 503)
            #expect(refused?.body == "http.stopping\n")
            #expect(!stopper.join(for: .zero))
            fixture.gate.open()
            let answer = try waiting.answer()
            #expect(answer?.status == 200)
            #expect(answer?.has("Connection: close") == true)
            #expect(stopper.join(for: .seconds(60)))
        }
    }

    @Test(arguments: [1, 2]) func `requests that sleep beyond the grace get 503 and the process lives`(_ threads: Int)
        async throws
    {
        try await onThread {
            let fixture = try ServerFixture { $0.threads = threads }
            let clients = try (0..<50).map { _ in try RawClient(port: fixture.port) }
            for client in clients { client.send(Self.wait) }
            try eventually { fixture.gate.waiting == 50 }
            let slowBody = try RawClient(port: fixture.port)
            slowBody.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nab")
            try eventually { fixture.server.requestsInFlight == 51 }
            fixture.server.stop(grace: .milliseconds(50))
            for client in clients { #expect(try client.answer()?.status == 503) }
            #expect(try slowBody.isClosed())
            #expect(fixture.server.requestsInFlight == 0)
            #expect(fixture.server.openConnections == 0)
            // Their handlers answer after the end; nothing may happen then.
            fixture.gate.open()
            fixture.server.stop(grace: .seconds(1))
        }
    }

    @Test func `a stop under load neither hangs nor aborts`() async throws {
        for round in 0..<10 {
            try await onThread {
                let fixture = try ServerFixture { $0.maximumConnectionsPerAddress = 0 }
                let port = fixture.port
                let clients = (0..<4).map { number in
                    NamedThread.start(name: "load-\(number)") {
                        while let client = try? RawClient(port: port) {
                            let request = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc"
                            while client.send(request), let answer = try? client.answer(), answer.status == 200 {}
                        }
                    }
                }
                try eventually { fixture.handled.count > 50 * (round + 1) }
                fixture.server.stop(grace: round.isMultiple(of: 2) ? .zero : .seconds(5))
                for client in clients { #expect(client.join(for: .seconds(60))) }
                #expect(fixture.server.requestsInFlight == 0)
            }
        }
    }
}
