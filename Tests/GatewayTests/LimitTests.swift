import HTTPServer
import JSON
import Observability
import Service
import Synchronization
import Testing

@testable import Gateway

/// What one user and one address may do, and what they are told when it is too much (S42).
@Suite struct LimitTests {
    /// A clock that tests move.
    final class Clock: Sendable {
        private let time = Mutex<Int64>(0)
        var now: @Sendable () -> Int64 { { [self] in time.withLock { $0 } } }
        func advance(milliseconds: Int64) { time.withLock { $0 += milliseconds * 1_000_000 } }
    }

    private static func limiter(_ perSecond: Int, _ burst: Int, _ clock: Clock) -> RateLimiter {
        RateLimiter(.init(perSecond: perSecond, burst: burst), now: clock.now)
    }

    @Test func `a user who asks too often gets 429 until there is room again, and nobody else notices (S42)`()
        async throws
    {
        let clock = Clock()
        let door = try TestDoor(users: Self.limiter(2, 3, clock), Samples.everything)
        for _ in 0..<3 {
            #expect(
                try await door.send("POST", "/api/iap/apple/verify", body: Samples.verifyBody).status == 200)
        }
        let asked = door.asker.asked.count
        let refused = try await door.send("POST", "/api/iap/apple/verify", body: Samples.verifyBody)
        #expect(refused.status == 429)
        #expect(refused.code == "TOO_MANY_REQUESTS")
        #expect(refused.header("Retry-After") == "1")
        #expect(refused.header("Content-Type") == "application/problem+json")
        #expect(try refused.json["reason"] == "user_rate")
        #expect(try refused.json["retryAfterSeconds"] == 1)
        #expect(try refused.json["mayFinish"] == false, "a purchase is not to be finished")
        #expect(door.asker.asked.count == asked, "nobody was asked")
        // Other calls of the same user count too; other users, the same user id of another app, and servers do not.
        #expect(try await door.send("GET", "/api/wallet/balance").status == 429)
        let other = try TestTokens.make(subject: "user-2")
        #expect(try await door.send("GET", "/api/wallet/balance", token: other).status == 200)
        let player = try TestTokens.make("games")
        #expect(try await door.send("GET", "/games/api/wallet/balance", token: player).status == 200)
        let server = try TestTokens.make("clouds", .service, subject: "user-1")
        for _ in 0..<10 {
            let spent = try await door.send("POST", "/api/wallet/consume", body: Samples.consumeBody, token: server)
            #expect(spent.status == 200)
        }
        clock.advance(milliseconds: 499)
        #expect(try await door.send("GET", "/api/wallet/balance").status == 429)
        clock.advance(milliseconds: 1)
        #expect(try await door.send("GET", "/api/wallet/balance").status == 200)
        #expect(door.metrics.render().contains("purser_gateway_limited_total{limit=\"user_rate\"} 3\n"))
    }

    @Test func `a forged token uses up nobody's tokens`() async throws {
        let door = try TestDoor(users: Self.limiter(1, 1, Clock()), Samples.everything)
        let forged = try TestTokens.make(secret: Array(repeating: 7, count: 32))
        for _ in 0..<5 { #expect(try await door.send("GET", "/api/wallet/balance", token: forged).status == 401) }
        #expect(try await door.send("GET", "/api/wallet/balance").status == 200)
    }

    @Test(
        arguments: [
            (Duration.zero, 1), (.nanoseconds(1), 1), (.milliseconds(999), 1), (.seconds(1), 1),
            (.nanoseconds(1_000_000_001), 2), (.milliseconds(2_500), 3), (.seconds(60), 60),
        ])
    func `Retry-After is in whole seconds, rounded up`(_ wait: Duration, _ seconds: Int) {
        #expect(Problem(.addressRate, retryAfter: wait).retryAfterSeconds == seconds)
    }

    /// A gate with a proxy, own servers, and what it counted.
    private struct TestGate {
        let gate: ClientGate
        let counted: Counted

        final class Counted: Sendable {
            private let all = Mutex<[Limit]>([])
            var limits: [Limit] { all.withLock { $0 } }
            func add(_ limit: Limit) { all.withLock { $0.append(limit) } }
        }

        init(rate: Int = 1, burst: Int = 2, routes: [AddressLimits.Rule] = []) throws {
            var reader = SettingsReaderStub.reader([
                "TRUSTED_PROXIES": "127.0.0.1", "UNLIMITED_ADDRESSES": "198.51.100.0/24",
                "ADDRESS_RATE": String(rate), "ADDRESS_BURST": String(burst),
            ])
            let settings = LimitSettings(&reader)
            #expect(reader.problems.isEmpty)
            let counted = Counted()
            self.counted = counted
            gate = ClientGate(settings, requests: AddressLimits(settings, rules: routes), limited: counted.add) {
                limit, _ in
                counted.add(limit)
                return HTTPResponse(status: 429)
            }
        }

        /// Whether a request passes.
        func passes(_ peer: String, _ forwarded: String? = nil, path: String = "/p") throws -> Bool {
            let head = HTTPRequest(
                method: "GET", path: path, headers: forwarded.map { [("x-forwarded-for", $0)] } ?? [])
            switch gate.judge(head, from: try #require(IPAddress(peer))) {
            case .admitted: return true
            case .refused: return false
            }
        }
    }

    @Test func `an address is limited, whatever it claims to be (S42)`() throws {
        let test = try TestGate()
        #expect(try test.passes("192.0.2.1", "203.0.113.1"))
        #expect(try test.passes("192.0.2.1", "203.0.113.2"))
        #expect(try !test.passes("192.0.2.1", "203.0.113.3"))
        #expect(try test.passes("192.0.2.2"))
        #expect(test.counted.limits == [.addressRate])
    }

    @Test func `behind a trusted proxy the clients are limited, each for itself, and cannot spoof (S42)`() throws {
        let test = try TestGate()
        #expect(try test.passes("127.0.0.1", "203.0.113.1"))
        #expect(try test.passes("127.0.0.1", "198.51.100.1, 203.0.113.1"))
        #expect(try !test.passes("127.0.0.1", "198.51.100.1, 203.0.113.1"), "what stands left is nobody's word")
        #expect(try test.passes("127.0.0.1", "203.0.113.2"))
        // An IPv6 client has its whole /64 for one bucket.
        #expect(try test.passes("127.0.0.1", "2001:db8::1"))
        #expect(try test.passes("127.0.0.1", "2001:db8::2"))
        #expect(try !test.passes("127.0.0.1", "2001:db8::3"))
        #expect(try test.passes("127.0.0.1", "2001:db8:0:1::3"))
        // Garbage is the proxy's own.
        #expect(try test.passes("127.0.0.1", "x"))
        #expect(try test.passes("127.0.0.1", "y"))
        #expect(try !test.passes("127.0.0.1", "z"))
    }

    @Test func `own servers are not limited, directly or behind a proxy, and only they`() throws {
        let test = try TestGate()
        for _ in 0..<5 {
            #expect(try test.passes("198.51.100.7"))
            #expect(try test.passes("127.0.0.1", "198.51.100.8"))
        }
        #expect(try test.passes("192.0.2.1", "198.51.100.7"))
        #expect(try test.passes("192.0.2.1", "198.51.100.7"))
        #expect(try !test.passes("192.0.2.1", "198.51.100.7"))
    }

    @Test func `a route with a limit of its own does not use up the others'`() throws {
        let rule = AddressLimits.Rule(pathSuffix: "/notifications", limiter: Self.limiter(1, 3, Clock()))
        let free = AddressLimits.Rule(pathSuffix: "/free", limiter: nil)
        let test = try TestGate(burst: 1, routes: [rule, free])
        for _ in 0..<3 { #expect(try test.passes("192.0.2.1", path: "/pay/notifications")) }
        #expect(try !test.passes("192.0.2.1", path: "/pay/notifications"))
        for _ in 0..<9 { #expect(try test.passes("192.0.2.1", path: "/free")) }
        #expect(try test.passes("192.0.2.1"))
        #expect(try !test.passes("192.0.2.1"))
    }

    @Test
    func `connections of an address are limited at a time and in number, those of proxies and own servers are not`()
        throws
    {
        let test = try TestGate(burst: 3)
        let stranger = try #require(IPAddress("192.0.2.1"))
        #expect(!test.gate.admitsConnection(from: stranger, open: 2, limit: 2))
        for _ in 0..<3 { #expect(test.gate.admitsConnection(from: stranger, open: 0, limit: 2)) }
        #expect(!test.gate.admitsConnection(from: stranger, open: 0, limit: 2), "too many in a second")
        for address in ["127.0.0.1", "198.51.100.7"] {
            let peer = try #require(IPAddress(address))
            for _ in 0..<10 { #expect(test.gate.admitsConnection(from: peer, open: 1_000, limit: 2)) }
        }
        #expect(test.counted.limits == [.addressConnections, .addressConnections])
    }

    @Test func `heads that cannot be read use up the address's tokens`() throws {
        let test = try TestGate()
        let stranger = try #require(IPAddress("192.0.2.1"))
        #expect(test.gate.answersUnreadableHead(from: stranger))
        #expect(test.gate.answersUnreadableHead(from: stranger))
        #expect(!test.gate.answersUnreadableHead(from: stranger))
        #expect(try !test.passes("192.0.2.1"))
    }

    @Test func `a rate of 0 is no limit`() throws {
        let test = try TestGate(rate: 0)
        for _ in 0..<1_000 { #expect(try test.passes("192.0.2.1")) }
    }

    @Test func `a flood of refusals writes a few lines a second and says how many it kept back`() {
        let clock = Clock()
        let budget = LineBudget(now: clock.now)
        var written = (0..<1_000).compactMap { _ in budget.line("a") }
        #expect(written == Array(repeating: 0, count: LineBudget.linesPerSecond))
        #expect(budget.line("b") == 0, "another kind has its own")
        clock.advance(milliseconds: 1_000)
        written = (0..<5).compactMap { _ in budget.line("a") }
        #expect(written == [1_000 - LineBudget.linesPerSecond, 0, 0, 0, 0])
    }
}
