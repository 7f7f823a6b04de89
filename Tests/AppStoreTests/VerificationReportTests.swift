import AppStoreSimulation
import Crypto
import Testing

@testable import AppStore

@Suite struct VerificationReportTests {
    @Test func `a failure splits the checks into passed, failed and not reached`() throws {
        var world = try World()
        var transaction = World.transaction()
        transaction.bundleID = "com.example.other"
        let jws = try world.signer.sign(transaction)
        let failure = try #require(throws: VerificationFailure.self) {
            try world.verifier.verifyTransaction(jws, now: World.now)
        }
        let report = VerificationReport(failure)
        #expect(!report.isValid)
        let outcomes = report.lines.map(\.outcome)
        #expect(
            outcomes == [VerificationReport.Outcome](repeating: .passed, count: 11) + [
                .failed, .notReached, .notReached,
            ])
        #expect(report.lines[11].check == .app)
        #expect(report.lines[11].explanation.contains("com.example.other"))
    }

    @Test func `verified data passed everything`() throws {
        var world = try World()
        let verified = try world.verifier.verifyTransaction(world.signer.sign(World.transaction()), now: World.now)
        #expect(verified.transaction.report.isValid)
        #expect(verified.transaction.report.lines.allSatisfy { $0.outcome == .passed })
    }

    @Test func `names of failures never change, and only clock and outages are transient`() {
        let names = VerificationFailure.Reason.allCases.map(\.rawValue)
        #expect(
            names == [
                "format", "alg", "chain_length", "certificate", "chain_untrusted", "chain_oid", "chain_time", "key",
                "signature", "revoked", "revocation_unavailable", "app_mismatch", "app_unidentified",
                "environment_mismatch", "payload_type", "payload_field", "too_large", "signed_date_in_future",
                "unavailable",
            ])
        let transient = VerificationFailure.Reason.allCases.filter { VerificationFailure($0, .size, "").isTransient }
        #expect(transient == [.revocationUnavailable, .signedDateInFuture, .unavailable])
        #expect(Set(VerificationFailure.Reason.allCases.map(\.sentence)).count == names.count)
    }

    @Test(arguments: [
        (0, "1970-01-01T00:00:00Z"), (1_761_962_975, "2025-11-01T02:09:35Z"), (951_782_400, "2000-02-29T00:00:00Z"),
        (-1, "1969-12-31T23:59:59Z"), (4_102_444_799, "2099-12-31T23:59:59Z"),
        (-62_135_596_800, "0001-01-01T00:00:00Z"),
    ])
    func `times are written for people`(seconds: Int64, text: String) {
        #expect(UTCTime.text(seconds) == text)
    }
}
