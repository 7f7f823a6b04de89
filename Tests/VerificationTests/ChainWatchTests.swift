import AppStore
import AppStoreSimulation
import Crypto
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

/// What the lane that verifies asks for, and what answers mean for it.
@Suite(.timeLimit(.minutes(5))) struct ChainWatchTests {
    /// A clock that tests move.
    private final class Clock: Sendable {
        private let time = Mutex(World.now)
        var now: Int64 { time.withLock { $0 } }
        func advance(_ milliseconds: Int64) { time.withLock { $0 += milliseconds } }
    }

    private static func handler(
        _ policy: RevocationPolicy, _ clock: Clock, metrics: Metrics = Metrics()
    ) throws -> VerifyPurchases {
        VerifyPurchases(
            verifier: try World().verifier(), receipts: try World().receiptVerifier(), metrics: metrics,
            logger: .silent, revocation: policy, now: { clock.now })
    }

    private static func chain() throws -> SignerChain {
        let authority = try World().authority
        return SignerChain(leaf: authority.leaf, intermediate: authority.intermediate)
    }

    /// Stores an answer as the other lane does.
    private static func record(
        _ verification: VerificationDatabase, revokedAt: Int64? = nil, reason: Int64? = nil, asOf: Int64 = 1,
        ends: Int64 = World.now + 43_200_000
    ) throws {
        let chain = try chain()
        var checked = ChainChecked(
            chain: Hex.encode(chain.id), subject: "leaf", serialNumber: "1", leafAsOf: asOf, intermediateAsOf: asOf,
            answerEnds: ends, checkAgainAt: (World.now + ends) / 2)
        checked.revokedAt = revokedAt
        checked.reason = reason
        let stored = checked
        var connection = try verification.database.open(role: "purser_verification")
        _ = try connection.transaction {
            try ChainTable(schema: "verification").record(stored, id: chain.id, in: &$0)
        }
    }

    @Test func `a chain that is first seen is asked about once, by whichever copy, and grants meanwhile`() async throws
    {
        try await VerificationDatabase.with("watch_new") { verification in
            let clock = Clock()
            var asked = 0
            for number in 1...3 {
                let outcomes = try verification.run(
                    Self.handler(.background, clock),
                    [try submission(World().sign("\(number)")), try submission(World().sign("\(number)0"))])
                #expect(outcomes.allSatisfy { $0.facts.contains { $0.type == .purchaseVerified } })
                let requests = outcomes.flatMap(\.allFacts).filter { $0.type == .chainCheckRequested }
                asked += requests.count
                if let request = requests.first {
                    let body = try MessageCoding.decode(ChainCheckRequested.self, from: request.body)
                    let chain = try Self.chain()
                    #expect(Base64.decode(body.leaf) == chain.leaf.der)
                    #expect(Base64.decode(body.intermediate) == chain.intermediate.der)
                }
                clock.advance(60_000)
            }
            #expect(asked == 1)
            clock.advance(ChainState.patience)
            let outcomes = try verification.run(Self.handler(.background, clock), [submission(World().sign("9"))])
            #expect(outcomes[0].allFacts.contains { $0.type == .chainCheckRequested }, "the first request was lost")
        }
    }

    @Test func `chains that sign are told with their end, also when they were kept by an older version (C-109)`()
        async throws
    {
        try await VerificationDatabase.with("watch_told") { verification in
            let clock = Clock()
            func chains() throws -> [SignerChainState] {
                var connection = try verification.database.open(role: "purser_verification")
                return try connection.transaction { try SignerTable.read(in: &$0) }
            }
            _ = try verification.run(Self.handler(.background, clock), [submission(World().sign("1"))])
            let chain = try Self.chain()
            let told = try chains()
            #expect(told.map(\.chain) == [Hex.encode(chain.id)] && told.map(\.expiresAt) == [chain.expiresAt])
            #expect(chain.expiresAt == 1_000 * min(chain.leaf.validity.notAfter, chain.intermediate.validity.notAfter))
            #expect(told.map(\.serialNumber) == [chain.leaf.serialNumber])
            try verification.database.execute("UPDATE verification.chains SET expires_at = NULL")
            #expect(try chains().map(\.expiresAt) == [nil])
            clock.advance(ChainState.patience)
            _ = try verification.run(Self.handler(.background, clock), [submission(World().sign("2"))])
            #expect(try chains().map(\.expiresAt) == [chain.expiresAt])
        }
    }

    @Test func `forgeries and strangers ask for nothing (S15)`() async throws {
        try await VerificationDatabase.with("watch_forged") { verification in
            let stranger = TransactionSigner(try SimulatedAuthority.generate(ocspAddress: "http://127.0.0.1/"))
            let forged = String(decoding: try stranger.sign(World.transaction()), as: UTF8.self)
            let outcomes = try verification.run(Self.handler(.background, Clock()), [submission(forged)])
            #expect(outcomes[0].allFacts.isEmpty)
            #expect(try verification.count("chains") == 0)
        }
    }

    @Test func `under required a new chain waits, asks, and counts as soon as the answer is good (S14)`() async throws {
        try await VerificationDatabase.with("watch_required") { verification in
            let clock = Clock()
            var handler = try Self.handler(.required, clock)
            var connection = try verification.database.open(role: "purser_verification")
            let text = try World().sign()
            func submit() throws -> Outcome {
                let message = try submission(text)
                return try connection.transaction { try handler.handle([message], in: &$0)[0] }
            }
            let first = try submit()
            #expect(first.outageReason == "revocation_unavailable")
            #expect(first.allFacts.map(\.type) == [.chainCheckRequested])
            #expect(try first.answer?.status == .pending)
            #expect(try verification.count("evidence") == 0)
            #expect(try submit().allFacts.isEmpty, "asked once")
            try Self.record(verification)
            clock.advance(ChainWatch.maximumAgeUnanswered)
            #expect(try submit().facts.map(\.type) == [.purchaseVerified])
            // Nobody has answered again, and what was said has ended.
            clock.advance(43_200_001)
            let late = try submit()
            #expect(late.outageReason == "revocation_unavailable" && late.allFacts.count == 1)
        }
    }

    @Test func `a revocation is heeded within the age of what is known, by its time and reason (S14)`() async throws {
        try await VerificationDatabase.with("watch_revoked") { verification in
            let clock = Clock()
            let metrics = Metrics()
            var handler = try Self.handler(.background, clock, metrics: metrics)
            var connection = try verification.database.open(role: "purser_verification")
            func submit(signedDate: Int64 = World.now - 1_000) throws -> Outcome {
                let message = try submission(World().sign { $0.signedDate = signedDate })
                return try connection.transaction { try handler.handle([message], in: &$0)[0] }
            }
            try Self.record(verification)
            #expect(try submit().facts.count == 1)
            try Self.record(verification, revokedAt: World.now - 5_000, reason: 4, asOf: 2)
            clock.advance(ChainWatch.maximumAge - 1)
            #expect(try submit().facts.count == 1, "not looked at again yet")
            clock.advance(1)
            let refused = try submit()
            #expect(try refused.answer?.status == .refused && refused.answer?.reason == "revoked")
            #expect(try refused.answer?.mayFinish == false && refused.answer?.securityEvent == .forgedEvidence)
            #expect(try submit(signedDate: World.now - 6_000).facts.count == 1, "signed before")
            try Self.record(verification, revokedAt: World.now - 5_000, reason: 1, asOf: 3)
            clock.advance(ChainWatch.maximumAge)
            #expect(try submit(signedDate: World.now - 6_000).answer?.reason == "revoked", "the key is in other hands")
            #expect(metrics.render().contains("purser_verification_revoked_chains 1"))
            #expect(metrics.render().contains(#"purser_verification_refused_total{reason="revoked"} 2"#))
            #expect(try verification.count("quarantine") == 2)
        }
    }

    @Test func `a known chain costs its batches no statement, and one in ten seconds`() async throws {
        try await VerificationDatabase.with("watch_cost") { verification in
            try Self.record(verification)
            let clock = Clock()
            var watch = ChainWatch(.background, service: "verification", metrics: Metrics())
            let sighting = ChainWatch.Sighting(try Self.chain(), try submission("").header)
            var connection = try verification.database.open(role: "purser_verification")
            // How often the table was read in a transaction. The counters may still hold what earlier ones did.
            func statements() throws -> Int64 {
                try connection.transaction { transaction in
                    let before = try Self.scans(&transaction)
                    _ = try watch.look(at: Array(repeating: sighting, count: 32), now: clock.now, in: &transaction)
                    return try Self.scans(&transaction) - before
                }
            }
            #expect(try statements() == 1)
            #expect(try statements() == 0)
            clock.advance(ChainWatch.maximumAge - 1)
            #expect(try statements() == 0)
            clock.advance(1)
            #expect(try statements() == 1)
        }
    }

    private static func scans(_ transaction: inout Transaction) throws -> Int64 {
        try transaction.query(
            """
            SELECT coalesce(seq_scan, 0) + coalesce(idx_scan, 0) AS scans
            FROM pg_stat_xact_user_tables WHERE schemaname = 'verification' AND relname = 'chains'
            """
        ).single().int8("scans")
    }

    @Test func `a claim that was rolled back is made again`() async throws {
        try await VerificationDatabase.with("watch_rollback") { verification in
            var handler = try Self.handler(.background, Clock())
            let message = try submission(World().sign())
            var connection = try verification.database.open(role: "purser_verification")
            #expect(throws: RollBack.self) {
                try connection.transaction { transaction in
                    _ = try handler.handle([message], in: &transaction)
                    throw RollBack()
                }
            }
            let outcome = try connection.transaction { try handler.handle([message], in: &$0)[0] }
            #expect(outcome.allFacts.contains { $0.type == .chainCheckRequested })
        }
    }
}
