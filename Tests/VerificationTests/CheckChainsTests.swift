import AppStore
import AppStoreSimulation
import Crypto
import HTTPServer
import JOSE
import Messages
import Observability
import Pipeline
import Postgres
import Synchronization
import TestSupport
import Testing
import Trust

@testable import Verification

/// The check itself: what it keeps, tells, and tries again.
@Suite(.timeLimit(.minutes(5))) struct CheckChainsTests {
    private static func with<R: Sendable>(
        _ name: String, _ body: @escaping @Sendable (VerificationDatabase, ResponderStage) throws -> R
    ) async throws -> R {
        try await VerificationDatabase.with("chains_\(name)") { verification in
            let stage = try ResponderStage.start()
            defer { stage.stop() }
            return try body(verification, stage)
        }
    }

    @Test func `a good answer is kept, told, and counted (S14)`() async throws {
        try await Self.with("good") { verification, stage in
            let metrics = Metrics()
            let outcome = try verification.run(stage.handler(metrics: metrics), [stage.incoming()])[0]
            let checked = try #require(outcome.checked)
            let ends = World.now + SimulatedResponder.Behaviour.usualLifetime * 1_000
            #expect(checked.chain == Hex.encode(stage.chain.id) && checked.revokedAt == nil)
            #expect(checked.answerEnds == ends && checked.checkAgainAt == (World.now + ends) / 2)
            let state = try #require(try verification.state(of: stage.chain))
            #expect(state.answer == .good && state.answerEnds == ends && state.askedAt == 0)
            #expect(stage.responder.timesAsked == 2, "about leaf and intermediate")
            #expect(metrics.render().contains(#"purser_verification_revocation_checks_total{outcome="good"} 2"#))
        }
    }

    @Test func `whoever asks again meanwhile gets the same answer, without Apple being asked`() async throws {
        try await Self.with("again") { verification, stage in
            let first = try verification.run(stage.handler(), [stage.incoming()])[0]
            let again = try verification.run(stage.handler(), [stage.incoming()])[0]
            #expect(again.checked == first.checked && again.checked != nil)
            #expect(stage.responder.timesAsked == 2)
            // Half of its life later it is asked about anew.
            let later = try stage.handler(now: { World.now + 8 * 3_600_000 })
            stage.responder.set(.init(.good, lifetime: 100 * 3_600))
            #expect(try verification.run(later, [stage.incoming()])[0].checked != nil)
            #expect(stage.responder.timesAsked == 4)
        }
    }

    @Test(arguments: ["leaf", "intermediate"])
    func `a revoked certificate is kept with its time and reason, and told, whichever of the two it is (S14)`(
        name: String
    ) async throws {
        try await Self.with("revoked_\(name)") { verification, stage in
            let storey = try #require(SimulatedAuthority.Storey(rawValue: name))
            stage.responder.set(.init(.revoked, revokedAt: 1_796_000_000, reason: 1), for: storey)
            let lines = Lines()
            let handler = try stage.handler(logger: lines.logger)
            let outcome = try verification.run(handler, [stage.incoming()])[0]
            #expect(outcome.checked?.revokedAt == 1_796_000_000_000 && outcome.checked?.reason == 1)
            let state = try verification.state(of: stage.chain)
            #expect(state?.answer == .revoked(at: 1_796_000_000_000, reason: .keyCompromise))
            #expect(lines.text.contains("Apple has revoked a chain of certificates"))
            #expect(lines.text.contains(#""accepted.since":0"#))
        }
    }

    @Test func `what was accepted since is told with the revocation`() async throws {
        try await Self.with("since") { verification, stage in
            let session = VerifyPurchases(
                verifier: try stage.verifier(), receipts: try World().receiptVerifier(), metrics: Metrics(),
                logger: .silent, revocation: .background,
                now: { World.now })
            _ = try verification.run(
                session,
                [
                    try submission(stage.sign("1", signedDate: World.now - 50_000_000)),
                    try submission(stage.sign("2", signedDate: World.now - 2_000)),
                    try submission(stage.sign("3", signedDate: World.now - 1_000)),
                ])
            stage.responder.set(.init(.revoked, revokedAt: ResponderStage.now - 3_600))
            let lines = Lines()
            _ = try verification.run(stage.handler(logger: lines.logger), [stage.incoming()])
            #expect(lines.text.contains(#""accepted.since":2"#), "\(lines.text)")
        }
    }

    @Test(arguments: [
        (SimulatedResponder.Mode.unknown, "unknown"), (.stale, "stale"), (.unreachable, "http_status"),
        (.slow, "timeout"), (.wrongResponder, "responder_not_authorized"),
    ])
    func `what cannot be found out now is tried again without limit, and nothing is kept (S14, BR04)`(
        mode: SimulatedResponder.Mode, name: String
    ) async throws {
        try await Self.with("trouble_\(mode.rawValue)") { verification, stage in
            stage.responder.set(.init(mode, milliseconds: 2_000))
            let metrics = Metrics()
            let outcome = try verification.run(stage.handler(metrics: metrics), [stage.incoming(attempt: 40)])[0]
            #expect(outcome.outageReason == "revocation.\(name)")
            #expect(try verification.state(of: stage.chain)?.answer == nil)
            let counted = #"purser_verification_revocation_checks_total{outcome="\#(name)"} 1"#
            #expect(metrics.render().contains(counted), "\(metrics.render())")
            // It was a passing trouble.
            stage.responder.set(.init(.good))
            let id = MessageID(UUIDText.random())
            #expect(try verification.run(stage.handler(), [stage.incoming(id: id)])[0].outageReason == nil)
        }
    }

    @Test func `one message goes round for a chain; others that ask meanwhile are done, unless it is lost`()
        async throws
    {
        try await Self.with("carrier") { verification, stage in
            stage.responder.set(.init(.unreachable))
            let carrier = MessageID(UUIDText.random())
            #expect(try verification.run(stage.handler(), [stage.incoming(id: carrier)])[0].outageReason != nil)
            let asked = stage.responder.timesAsked
            let other = try verification.run(stage.handler(), [stage.incoming()])[0]
            #expect(other.outageReason == nil && other.allFacts.isEmpty && stage.responder.timesAsked == asked)
            // The one that goes round tries again.
            let again = try stage.incoming(id: carrier, attempt: 1)
            #expect(try verification.run(stage.handler(), [again])[0].outageReason != nil)
            #expect(stage.responder.timesAsked > asked)
            // Somebody has thrown it away: after a while another one takes over.
            let late = try stage.handler(now: { World.now + ChainState.patience + 1 })
            #expect(try verification.run(late, [stage.incoming()])[0].outageReason != nil)
        }
    }

    @Test func `an older answer that somebody has kept never undoes a revocation; a newer one may (S14)`() async throws
    {
        try await Self.with("replay") { verification, stage in
            stage.responder.set(.init(.revoked, revokedAt: ResponderStage.now - 60, lifetime: 10))
            #expect(try verification.run(stage.handler(), [stage.incoming()])[0].checked?.revokedAt != nil)
            // The clock of the service has gone on; the answer that comes is of an hour before.
            let later = try stage.handler(now: { World.now + 20_000 })
            let old = try stage.answer(asOf: ResponderStage.now - 3_600)
            stage.instead.withLock { $0 = HTTPResponse(status: 200, body: old) }
            #expect(try verification.run(later, [stage.incoming()])[0].outageReason != nil)
            #expect(try verification.state(of: stage.chain)?.answer != .good)
            stage.instead.withLock { $0 = nil }
            stage.responder.set(.init(.good))
            let evenLater = try stage.handler(now: { World.now + ChainState.patience + 30_000 })
            #expect(try verification.run(evenLater, [stage.incoming()])[0].checked != nil)
            #expect(try verification.state(of: stage.chain)?.answer == .good)
        }
    }

    @Test func `certificates that lead to no pinned root are parked before anything in them is used (S15)`()
        async throws
    {
        try await Self.with("untrusted") { verification, stage in
            let stranger = try SimulatedAuthority.generate(ocspAddress: "http://127.0.0.1:\(stage.port)/")
            let requests = [
                ChainCheckRequested(
                    leaf: Base64.encode(stranger.leaf.der), intermediate: Base64.encode(stranger.intermediate.der)),
                ChainCheckRequested(
                    leaf: Base64.encode(stage.authority.leaf.der),
                    intermediate: Base64.encode(stranger.intermediate.der)),
                ChainCheckRequested(leaf: "", intermediate: ""),
                ChainCheckRequested(leaf: "!!", intermediate: stage.request.intermediate),
                ChainCheckRequested(
                    leaf: String(repeating: "A", count: 1 << 20), intermediate: stage.request.intermediate),
            ]
            for request in requests {
                let outcome = try verification.run(stage.handler(), [stage.incoming(request)])[0]
                #expect(outcome.parkedReason == CheckChains.untrusted)
            }
            #expect(stage.responder.timesAsked == 0)
            #expect(try verification.count("chains") == 0)
        }
    }

    @Test(arguments: [(true, "no_address"), (false, "address_refused")])
    func `where nobody may be asked nothing goes round: it is looked at again a day later (S15)`(
        hasNone: Bool, attempt: String
    ) async throws {
        try await Self.with(attempt) { verification, stage in
            let authority = try SimulatedAuthority.generate(ocspAddress: hasNone ? nil : "http://169.254.169.254/")
            let handler = try CheckChains(
                roots: [authority.root], asker: stage.asker, policy: .background, metrics: Metrics(), logger: .silent,
                now: { World.now })
            let request = ChainCheckRequested(
                leaf: Base64.encode(authority.leaf.der), intermediate: Base64.encode(authority.intermediate.der))
            let outcome = try verification.run(handler, [stage.incoming(request)])[0]
            #expect(outcome.outageReason == nil && outcome.allFacts.isEmpty && outcome.parkedReason == nil)
            let row = try #require(
                try verification.rows("SELECT attempt, check_again_at FROM verification.chains").first)
            #expect(try row.text("attempt") == attempt)
            #expect(try row.int8("check_again_at") == World.now + 24 * 3_600_000)
        }
    }

    @Test func `switched off it asks nobody`() async throws {
        try await Self.with("off") { verification, stage in
            let outcome = try verification.run(stage.handler(policy: .off), [stage.incoming()])[0]
            #expect(outcome.allFacts.isEmpty && outcome.outageReason == nil && stage.responder.timesAsked == 0)
        }
    }
}

/// Keeps the lines of a logger.
final class Lines: Sendable {
    private let kept = Mutex("")
    var logger: Logger {
        Logger(
            service: "test", level: .info,
            write: { bytes in
                self.kept.withLock { $0 += String(decoding: bytes, as: UTF8.self) }
            })
    }
    var text: String { kept.withLock { $0 } }
}

extension ResponderStage {
    /// The honest responder's answer about the leaf, as of some other time.
    func answer(asOf time: Int64) throws -> [UInt8] {
        let question = try OCSPRequest(about: authority.leaf, issuedBy: authority.intermediate)
        let responder = try SimulatedResponder(authority)
        guard case .answer(let bytes, _) = responder.answer(question.der, now: time) else { return [] }
        return bytes
    }
}
