import AppStoreSimulation
import Crypto
import Messages
import Testing

@testable import AppStore
@testable import Verification

/// What is told about each kind of evidence; no broker, no database.
@Suite struct VerdictTests {
    private func verdict(_ text: String, for app: AppID = World.game, now: Int64 = World.now) throws -> Verdict {
        var verifier = try World().verifier()
        return Verdict.of(text, for: app, by: &verifier, now: now)
    }

    @Test func `a genuine transaction is flattened field by field`() throws {
        let token = "E621E1F8-C36C-495A-93FC-0C247A3E6E5F"
        let signed = try World().sign("504319184420155588") {
            $0.originalTransactionID = "504319184420155000"
            $0.appAccountToken = token
            $0.quantity = 3
            $0.revocationDate = World.now
            $0.revocationPercentage = 40_000
        }
        guard case .genuine(let verified, let purchase) = try verdict(signed) else {
            Issue.record("not genuine")
            return
        }
        #expect(purchase.transactionID == TransactionID("504319184420155588"), "digit for digit (BR10)")
        #expect(purchase.originalTransactionID == TransactionID("504319184420155000"))
        #expect(purchase.appAccountToken == token.lowercased(), "compared as a UUID (BR08)")
        #expect(purchase.quantity == 3 && purchase.revokedShare == 40_000)
        #expect(purchase.environment == .production && purchase.bundleID == World.gameBundle)
        #expect(purchase.signedDate == World.now - 60_000)
        #expect(purchase.payloadHash == Hex.encode(SHA256.hash(verified.evidence.payload)))
    }

    @Test(arguments: Refused.all)
    func `what is refused gets its code, reason and security event (S01 S02 S03 S04 S06 S08 S13 S20 S21)`(
        refused: Refused
    ) throws {
        guard case .refused(let code, let reason, let event) = try verdict(refused.text(World())) else {
            Issue.record("not refused")
            return
        }
        #expect(code == refused.code)
        #expect(reason == refused.reason.rawValue)
        #expect(event == refused.event)
    }

    @Test func `a sandbox purchase of an app that takes real money only is refused (S20)`() throws {
        let sandbox = try World().sign {
            $0.bundleID = World.booksBundle
            $0.environment = "Sandbox"
        }
        guard case .refused(let code, let reason, let event) = try verdict(sandbox, for: World.books) else {
            Issue.record("not refused")
            return
        }
        #expect(code == .appleTransactionVerifyFailed && reason == "environment_mismatch" && event == .sandboxPurchase)
        // The same for an app that takes them is genuine.
        guard case .genuine(_, let purchase) = try verdict(World().sign { $0.environment = "Sandbox" }) else {
            Issue.record("not genuine")
            return
        }
        #expect(purchase.environment == .sandbox)
    }

    @Test func `what is dated in the future is not judged now`() throws {
        let signed = try World().sign { $0.signedDate = World.now + 300_001 }
        guard case .later(let reason) = try verdict(signed) else {
            Issue.record("judged")
            return
        }
        #expect(reason == "signed_date_in_future")
        guard case .genuine = try verdict(signed, now: World.now + 1) else {
            Issue.record("five minutes are tolerated")
            return
        }
    }

    @Test func `what names no app is neither believed nor refused`() throws {
        guard case .unidentified = try verdict(World().sign { $0.bundleID = nil }) else {
            Issue.record("it cannot be identified")
            return
        }
    }

    /// Reasons that are no verdict on the purchase: the same bytes may be accepted later.
    private static let transient: Set<VerificationFailure.Reason> = [
        .signedDateInFuture, .revocationUnavailable, .unavailable,
    ]

    @Test(arguments: VerificationFailure.Reason.allCases)
    func `every reason there is has its verdict`(reason: VerificationFailure.Reason) {
        switch Verdict.refusal(VerificationFailure(reason, .fields, "transactionId is missing")) {
        case .genuine, .receipt, .unjudged: Issue.record("a failure is never genuine")
        case .later(let told): #expect(Self.transient.contains(reason) && told == reason.rawValue)
        case .unidentified: #expect(reason == .appUnidentified)
        case .refused(let code, let told, let event):
            #expect(!Self.transient.contains(reason) && reason != .appUnidentified)
            #expect(code == .appleTransactionVerifyFailed, "the code follows from the field, not from a sentence")
            #expect(told == reason.rawValue)
            let harmless: Set<VerificationFailure.Reason> = [.payloadField, .payloadType, .tooLarge]
            let expected: SecurityEvent? =
                switch reason {
                case .appMismatch: .otherApp
                case .environmentMismatch: .sandboxPurchase
                default: harmless.contains(reason) ? nil : .forgedEvidence
                }
            #expect(event == expected)
        }
    }
}
