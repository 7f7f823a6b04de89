import Crypto
import HTTPClient
import Testing
import Trust

@testable import Verification

/// What is made of answers, without any of the machinery. Times in ms.
@Suite struct ChainStateTests {
    private static let now: Int64 = 1_000_000_000
    private static let half: Int64 = 12 * 3_600_000

    private static func state(_ answer: ChainState.Answer?, ends: Int64 = now + half) -> ChainState {
        var state = ChainState()
        state.answer = answer
        state.answerEnds = ends
        return state
    }

    /// Policy, answer, when it ends, when it was signed, and what that means.
    struct Row: Sendable {
        let policy: RevocationPolicy
        let answer: ChainState.Answer?
        var ends = ChainStateTests.now + ChainStateTests.half
        var signed: Int64? = ChainStateTests.now - 1_000
        let verdict: ChainState.Verdict
    }

    private static let superseded = ChainState.Answer.revoked(at: now - 10_000, reason: .superseded)
    private static let compromised = ChainState.Answer.revoked(at: now - 10_000, reason: .keyCompromise)
    private static let unexplained = ChainState.Answer.revoked(at: now - 10_000, reason: nil)

    static let rows: [Row] =
        [
            Row(policy: .background, answer: nil, verdict: .accepted),
            Row(policy: .background, answer: .good, verdict: .accepted),
            Row(policy: .background, answer: .good, ends: now - 1, verdict: .accepted),
            Row(policy: .required, answer: nil, verdict: .waits),
            Row(policy: .required, answer: .good, verdict: .accepted),
            Row(policy: .required, answer: .good, ends: now - 1, verdict: .waits),
        ]
        + [RevocationPolicy.background, .required].flatMap { policy in
            [
                Row(policy: policy, answer: superseded, signed: now - 10_001, verdict: .accepted),
                Row(policy: policy, answer: superseded, signed: now - 10_000, verdict: .revoked),
                Row(policy: policy, answer: superseded, signed: nil, verdict: .revoked),
                Row(policy: policy, answer: superseded, ends: now - 1, verdict: .revoked),
                Row(policy: policy, answer: unexplained, signed: now - 10_001, verdict: .accepted),
                Row(policy: policy, answer: compromised, signed: 0, verdict: .revoked),
            ]
        }
        + [nil, .good, superseded, compromised].map { Row(policy: .off, answer: $0, verdict: .accepted) }

    @Test(arguments: rows)
    func `what a revoked certificate signed before counts, unless its key is in other hands; what was after never does`(
        row: Row
    ) {
        let state = Self.state(row.answer, ends: row.ends)
        #expect(state.verdict(signedDate: row.signed, policy: row.policy, now: Self.now) == row.verdict)
    }

    @Test func `a check is asked for when it is due, and again only if the last request left no trace for long`() {
        var state = ChainState()
        #expect(state.isDue(at: Self.now))
        state.askedAt = Self.now
        #expect(!state.isDue(at: Self.now + ChainState.patience - 1))
        #expect(state.isDue(at: Self.now + ChainState.patience))
        state.askedAt = 0
        state.checkAgainAt = Self.now + 1
        #expect(!state.isDue(at: Self.now) && state.isDue(at: Self.now + 1))
    }

    // MARK: - From two answers to one finding

    private static func answer(
        _ status: OCSPAnswer.Status = .good, ends: Int64? = 1_003_600
    ) -> Result<OCSPAnswer, CheckTrouble> {
        .success(OCSPAnswer(status: status, thisUpdate: 999_000, nextUpdate: ends, producedAt: 999_000))
    }

    private static func open(_ name: String, _ isPassing: Bool) -> ChainFinding {
        .open(.init(name: name, isPassing: isPassing))
    }

    struct Pair: Sendable {
        let leaf: Result<OCSPAnswer, CheckTrouble>
        let intermediate: Result<OCSPAnswer, CheckTrouble>
        let finding: ChainFinding
    }

    static let pairs: [Pair] = [
        Pair(leaf: answer(), intermediate: answer(), finding: .good(ends: 1_003_600_000)),
        Pair(leaf: answer(), intermediate: answer(ends: 1_001_000), finding: .good(ends: 1_001_000_000)),
        Pair(leaf: answer(ends: nil), intermediate: answer(), finding: .good(ends: now + ChainFinding.undatedLife)),
        Pair(
            leaf: answer(ends: 9_000_000_000_000_000), intermediate: answer(ends: .max),
            finding: .good(ends: now + ChainFinding.longestLife)),
        Pair(
            leaf: answer(.revoked(at: 500, reason: .superseded)), intermediate: .failure(.noAddress),
            finding: .revoked(at: 500_000, reason: .superseded, ends: 1_003_600_000)),
        Pair(
            leaf: answer(.revoked(at: 500, reason: .superseded)),
            intermediate: answer(.revoked(at: 900, reason: .authorityCompromise)),
            finding: .revoked(at: 900_000, reason: .authorityCompromise, ends: 1_003_600_000)),
        Pair(
            leaf: answer(.revoked(at: 500, reason: .superseded)), intermediate: answer(.revoked(at: 400, reason: nil)),
            finding: .revoked(at: 400_000, reason: nil, ends: 1_003_600_000)),
        Pair(leaf: answer(.unknown), intermediate: answer(), finding: open("unknown", true)),
        Pair(leaf: answer(), intermediate: .failure(.unreachable(.timeout)), finding: open("timeout", true)),
        Pair(leaf: .failure(.noAddress), intermediate: .failure(.older), finding: open("older", true)),
        Pair(leaf: .failure(.noAddress), intermediate: answer(), finding: open("no_address", false)),
        Pair(leaf: answer(), intermediate: .failure(.addressRefused), finding: open("address_refused", false)),
        Pair(
            leaf: answer(), intermediate: .failure(.unreachable(.privateAddress)),
            finding: open("address_refused", false)),
    ]

    @Test(arguments: pairs) func `a chain is as good as the worse of its two certificates (S14)`(pair: Pair) {
        #expect(ChainFinding([pair.leaf, pair.intermediate], now: Self.now) == pair.finding)
    }

    @Test func `it is asked again at half the life of an answer, and not all the time`() {
        #expect(ChainFinding.checkAgain(now: 0, ends: Self.half) == Self.half / 2)
        #expect(ChainFinding.checkAgain(now: 0, ends: 10) == 5_000)
    }

    // MARK: - Addresses

    @Test(arguments: [
        ("http://ocsp.apple.com/ocsp03-wwdrg602", "ocsp.apple.com"), ("HTTP://OCSP.Apple.COM/x", "ocsp.apple.com"),
        ("https://ocsp.apple.com:443/x", "ocsp.apple.com"), ("http://ocsp.apple.com:8080/x", "ocsp.apple.com:8080"),
        ("http://[::1]:80/", "[::1]"), ("http://ocsp.apple.com.evil.example/", "ocsp.apple.com.evil.example"),
    ])
    func `the host of an address is read the way it is used (S15)`(text: String, host: String) {
        #expect(ResponderAddress(text)?.host == host)
    }

    @Test(arguments: [
        "", "ocsp.apple.com", "ftp://ocsp.apple.com/", "file:///etc/passwd", "ldap://ocsp.apple.com/",
        "http://ocsp.apple.com@169.254.169.254/", "http://user:secret@ocsp.apple.com/", "http:///x", "http://:80/",
        "http://ocsp.apple.com:0/", "http://ocsp.apple.com:99999/", "http://ocsp.apple.com:80a/",
        "http://ocsp.apple.com\\@evil.example/", "http://ocsp.apple.com /", "http://ocsp.apple.com\r\nHost: evil/",
        "http://ocsp.apple.com#@evil.example/", "http://ocsp%2eapple.com/", "http://öcsp.apple.com/", "http://[::1/",
        "gopher://127.0.0.1:6379/_FLUSHALL", "http:/ocsp.apple.com/",
    ])
    func `an address that two readers could read differently is none (S15)`(text: String) {
        #expect(ResponderAddress(text) == nil)
    }
}
