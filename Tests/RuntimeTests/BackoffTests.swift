import Runtime
import Testing

@Suite struct BackoffTests {
    @Test func `waits grow to the limit and never beyond`() {
        var backoff = Backoff(base: .milliseconds(100), limit: .seconds(5))
        var generator = Constant(value: .max)
        let waits = (0..<100).map { _ in backoff.next(using: &generator) }
        #expect(waits[0] <= .milliseconds(100) && waits[0] > .milliseconds(99))
        #expect(waits[1] > .milliseconds(199))
        #expect(waits[5] > .milliseconds(3_199))
        #expect(waits.dropFirst(6).allSatisfy { $0 > .milliseconds(4_999) && $0 <= .seconds(5) })
    }

    @Test func `full jitter reaches down to nothing`() {
        var backoff = Backoff()
        // Not 0: the standard library draws again for ever when a generator gives only zeros.
        var generator = Constant(value: 1)
        #expect(backoff.next(using: &generator) == .zero)
    }

    @Test func `after a reset the first wait is short again`() {
        var backoff = Backoff(base: .milliseconds(10), limit: .seconds(60))
        for _ in 0..<20 { _ = backoff.next() }
        backoff.reset()
        #expect(backoff.attempts == 0)
        #expect(backoff.next() <= .milliseconds(10))
    }
}

/// Answers the same number for ever.
private struct Constant: RandomNumberGenerator {
    let value: UInt64
    mutating func next() -> UInt64 { value }
}
