import HTTPServer
import TestSupport
import Testing

/// Token buckets as a value: times in, decisions out.
@Suite struct TokenBucketsTests {
    private static let millisecond: Int64 = 1_000_000

    private static func key(_ name: String) -> BucketKey { BucketKey(app: "app", user: name) }

    /// What one key is told at these times, in ms: nil = admitted, else the wait in ms.
    private static func waits(_ rate: TokenBuckets.Rate, _ times: [Int64]) -> [Int64?] {
        var buckets = TokenBuckets(rate, capacity: 8)
        return times.map { time in
            switch buckets.take(key("a"), at: time * millisecond) {
            case .admitted: nil
            case .refused(let wait): Int64(wait / .milliseconds(1))
            }
        }
    }

    @Test(
        arguments: [
            // 10 a second, 3 at once: three pass, then one each 100 ms.
            (10, 3, [0, 0, 0, 0, 50, 99, 100, 100], [nil, nil, nil, 100, 50, 1, nil, 100]),
            // A pause fills the bucket again, and no further than it is large.
            (
                10, 3, [0, 0, 0, 200, 200, 200, 10_000, 10_000, 10_000, 10_000],
                [nil, nil, nil, nil, nil, 100, nil, nil, nil, 100]
            ),
            // A refusal takes nothing: whoever keeps asking gets the next token when it is there.
            (2, 1, [0, 100, 200, 300, 499, 500, 501], [nil, 400, 300, 200, 1, nil, 499]),
            // Exactly at the rate, for ever.
            (1_000, 1, [0, 1, 2, 3, 4, 4, 5], [nil, nil, nil, nil, nil, 1, nil]),
            // A clock that goes back gives nothing away.
            (10, 1, [1_000, 0, 1_000, 1_100], [nil, 1_100, 100, nil]),
            // A clock below zero is a clock.
            (10, 2, [-5_000, -5_000, -5_000, -4_900], [nil, nil, 100, nil]),
        ] as [(Int, Int, [Int64], [Int64?])])
    func `times lead to decisions (S42)`(_ perSecond: Int, _ burst: Int, _ times: [Int64], _ expected: [Int64?]) {
        #expect(Self.waits(TokenBuckets.Rate(perSecond: perSecond, burst: burst), times) == expected)
    }

    @Test func `every key has a bucket of its own`() {
        var buckets = TokenBuckets(.init(perSecond: 1, burst: 1), capacity: 1_024)
        for user in 0..<100 {
            #expect(buckets.take(Self.key("\(user)"), at: 0) == .admitted)
        }
        for user in 0..<100 {
            #expect(buckets.take(Self.key("\(user)"), at: 0) == .refused(retryAfter: .seconds(1)))
        }
        #expect(buckets.take(BucketKey(app: "other", user: "1"), at: 0) == .admitted, "users of two apps are two")
    }

    @Test func `the addresses of one IPv6 network are one client, two IPv4 addresses are two`() throws {
        func key(_ text: String) throws -> BucketKey { BucketKey(try #require(IPAddress(text))) }
        #expect(try key("2001:db8:1:2::1") == key("2001:db8:1:2:ffff:ffff:ffff:ffff"))
        #expect(try key("2001:db8:1:2::1") != key("2001:db8:1:3::1"))
        #expect(try key("192.0.2.1") != key("192.0.2.2"))
        #expect(try key("192.0.2.1") == key("::ffff:192.0.2.1"))
    }

    /// A model with exact tokens a key and all memory in the world.
    private struct Ideal {
        var tokens: [Int: Double] = [:]
        var seen: [Int: Int64] = [:]
        let rate: TokenBuckets.Rate

        mutating func hasToken(_ key: Int, at now: Int64) -> Bool {
            let passed = Double(now - (seen[key] ?? now)) / 1e9
            tokens[key] = min(
                Double(rate.burst), (tokens[key] ?? Double(rate.burst)) + passed * Double(rate.perSecond))
            seen[key] = now
            return (tokens[key] ?? 0) >= 1 - 1e-6
        }

        mutating func take(_ key: Int) { tokens[key, default: 0] -= 1 }
    }

    @Test(arguments: [1, 2, 3, 4] as [UInt64])
    func `being forgotten never gives anybody a token more (S42)`(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let rate = TokenBuckets.Rate(perSecond: 50, burst: 5)
        // Eight places for thirty keys: something is forgotten all the time.
        var buckets = TokenBuckets(rate, capacity: 8)
        var ideal = Ideal(rate: rate)
        var now: Int64 = 0
        var admitted = 0
        for _ in 0..<20_000 {
            now += Int64(random.next() % 4) * Self.millisecond
            let key = Int(random.next() % 30)
            let hasToken = ideal.hasToken(key, at: now)
            guard buckets.take(Self.key("\(key)"), at: now) == .admitted else { continue }
            admitted += 1
            #expect(hasToken, "key \(key) got a token at \(now) that it did not have")
            ideal.take(key)
        }
        #expect(admitted > 1_000)
    }

    @Test func `nine keys that push each other out of eight places get what eight buckets give`() {
        let rate = TokenBuckets.Rate(perSecond: 10, burst: 5)
        var buckets = TokenBuckets(rate, capacity: 8)
        var admitted = 0
        // One second, each key once a millisecond.
        for time in 0..<Int64(1_000) {
            for key in 0..<9 where buckets.take(Self.key("\(key)"), at: time * Self.millisecond) == .admitted {
                admitted += 1
            }
        }
        #expect(admitted <= 8 * (rate.burst + rate.perSecond))
        #expect(admitted >= 8 * rate.burst)
    }

    @Test func `who hammers stays known while strangers come and go, and they do not notice`() {
        var buckets = TokenBuckets(.init(perSecond: 10, burst: 10), capacity: 8)
        var admitted = 0
        // Ten seconds; every 50 ms somebody new, and twenty times somebody known.
        for step in 0..<Int64(200) {
            let now = step * 50 * Self.millisecond
            #expect(buckets.take(Self.key("stranger \(step)"), at: now) == .admitted)
            for _ in 0..<20 where buckets.take(Self.key("hammer"), at: now) == .admitted { admitted += 1 }
        }
        #expect((100...110).contains(admitted))
    }

    @Test func `a limiter asks its clock and can be used by many at once`() async throws {
        let limiter = RateLimiter(.init(perSecond: 1, burst: 100), now: { 7 })
        let admitted = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<8 {
                group.addTask { (0..<50).count { _ in limiter.take(Self.key("a")) == .admitted } }
            }
            return await group.reduce(0, +)
        }
        #expect(admitted == 100)
        #expect(RateLimiter.ifLimited(perSecond: 0, burst: 1) == nil, "0 switches a limit off")
    }
}
