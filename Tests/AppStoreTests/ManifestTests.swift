import Crypto
import Testing

@testable import AppStore

@Suite struct ManifestTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let file: String
        let kind: PayloadKind
        let app: AcceptedApp
        let verdict: String

        init?(_ line: Substring) {
            let columns = line.split(separator: "\t").map(String.init)
            guard columns.count == 6, let kind = PayloadKind(rawValue: columns[1]),
                let environment = AppStoreEnvironment(rawValue: columns[2])
            else { return nil }
            file = columns[0]
            self.kind = kind
            app = AcceptedApp(
                id: "app", bundleIDs: [columns[3]], appAppleID: Int64(columns[4]), environments: [environment])
            verdict = columns[5]
        }

        var testDescription: String { "\(file) as \(kind.rawValue): \(verdict)" }
    }

    static let rows: [Row] = {
        guard let text = try? Fixture.text("MANIFEST.tsv") else { return [] }
        return text.split(separator: "\n").filter { !$0.hasPrefix("#") }.compactMap { Row($0) }
    }()

    @Test func `the manifest is read whole`() throws {
        let lines = try Fixture.text("MANIFEST.tsv").split(separator: "\n").filter { !$0.hasPrefix("#") }
        #expect(Self.rows.count == lines.count)
        #expect(Self.rows.count == 20)
    }

    @Test(arguments: rows)
    func `Apple's own signed fixtures get the expected verdict from the production verifier`(row: Row) throws {
        let root = try Fixture.certificate("apple/certs/testCA.der")
        var verifier = try SignedDataVerifier(apps: [row.app], roots: [root])
        let jws = try Fixture.bytes(row.file)
        // Between the fixtures' dates and the end of their certificates.
        let now: Int64 = 1_796_083_200_000
        var verdict = "valid"
        do throws(VerificationFailure) {
            switch row.kind {
            case .transaction: _ = try verifier.verifyTransaction(jws, now: now)
            case .renewalInfo: _ = try verifier.verifyRenewalInfo(jws, now: now)
            case .notification: _ = try verifier.verifyNotification(jws, now: now)
            case .appTransaction: _ = try verifier.verifyAppTransaction(jws, now: now)
            case .realtimeRequest: _ = try verifier.verifyRealtimeRequest(jws, now: now)
            }
        } catch {
            verdict = error.reason.rawValue
        }
        #expect(verdict == row.verdict)
    }

    @Test func `the valid fixtures give the values Apple's tests expect`() throws {
        let root = try Fixture.certificate("apple/certs/testCA.der")
        let app = AcceptedApp(id: "example", bundleIDs: ["com.example"], appAppleID: 1234)
        var verifier = try SignedDataVerifier(apps: [app], roots: [root])
        let now: Int64 = 1_796_083_200_000
        let text = try Fixture.bytes("apple/mock_signed_data/testNotification")
        let verified = try verifier.verifyNotification(text, now: now).notification
        #expect(verified.payload.notificationType == "TEST")
        #expect(verified.payload.data?.appAppleID == 1234)
        #expect(verified.payload.notificationUUID.description == "9ad56bd2-0bc6-42e0-af24-fd996d87a1e6")
        #expect(verified.signedDate == 1_681_314_324_000)
        #expect(verified.environment == .sandbox)
        #expect(verified.appID == "example")
        // Its third certificate is not the pinned root byte for byte: only the path counts.
        #expect(verified.evidence.jws() == text)
        let transaction = try verifier.verifyTransaction(
            Fixture.bytes("apple/mock_signed_data/transactionInfo"), now: now
        ).transaction
        #expect(transaction.signedDate == 1_672_956_154_000)
        #expect(transaction.payload.transactionID == nil)
        // Valid as signed data, but nothing that could be granted.
        #expect(throws: VerificationFailure.self) { try transaction.payload.purchase() }
    }

    @Test func `none of the fixtures is accepted under Apple's own roots`() throws {
        for row in Self.rows {
            var verifier = try SignedDataVerifier(apps: [row.app])
            #expect(throws: VerificationFailure.self) {
                try verifier.authenticate(Fixture.bytes(row.file), now: 1_796_083_200_000)
            }
            #expect(verifier.cachedSigners == 0)
        }
    }
}
