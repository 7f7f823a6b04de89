import AppStore
import AppStoreSimulation
import Apps
import Crypto
import JOSE
import JSON
import LegacyReceipts
import Messages
import Observability
import Pipeline
import TestSupport
import Testing

@testable import Verification

/// About which receipts Apple is asked, and with which secret.
@Suite(.timeLimit(.minutes(5))) struct ReceiptRuleTests {
    private static func verdict(_ container: [UInt8], canAskApple: Bool = true) throws -> Verdict {
        var verifier = try World().verifier()
        return Verdict.ofReceipt(
            Base64.encode(container), product: ProductID(OpenReceipt.product), for: World.game,
            by: try World().receiptVerifier(), or: &verifier, canAskApple: canAskApple, now: World.now)
    }

    private static func reason(_ verdict: Verdict) -> String {
        switch verdict {
        case .refused(_, let reason, _): "refused: \(reason)"
        case .unjudged(_, let reason): "unjudged: \(reason)"
        case .receipt: "receipt"
        default: "other"
        }
    }

    @Test func `what is of an unknown form, algorithm or field is unjudged, and refused where nobody is asked`() throws
    {
        let signer = ReceiptSigner(try World.receipts.get())
        let odd = OpenReceipt.receipt { $0.purchases[0].overrides = [(1704, DER.ia5("yesterday"))] }
        let cases: [([UInt8], String)] = [
            (try OpenReceipt.container(), "format"), (try signer.sign(odd), "payload_field"),
            // RSA-PSS in the place of RSA: an algorithm of the same length that the reader does not know.
            (
                try signer.sign(OpenReceipt.receipt())
                    .replacingLast([0x0D, 0x01, 0x01, 0x01], [0x0D, 0x01, 0x01, 0x0A]), "alg"
            ),
        ]
        for (container, reason) in cases {
            #expect(Self.reason(try Self.verdict(container)) == "unjudged: \(reason)")
            #expect(Self.reason(try Self.verdict(container, canAskApple: false)) == "refused: \(reason)")
        }
    }

    @Test func `what was judged stays judged: nobody is asked about a forgery or another's app (S01 S02 S05)`() throws {
        let authority = try World.receipts.get()
        var forged = try ReceiptSigner(authority).sign(OpenReceipt.receipt())
        let place = try #require(forged.firstRange(of: Array(OpenReceipt.product.utf8))?.lowerBound)
        forged[place] ^= 1
        #expect(Self.reason(try Self.verdict(forged)) == "refused: signature")
        let stranger = try ReceiptSigner(try ReceiptAuthority.generate()).sign(OpenReceipt.receipt())
        #expect(Self.reason(try Self.verdict(stranger)) == "refused: chain_untrusted")
        let other = try ReceiptSigner(authority).sign(OpenReceipt.receipt(bundleID: "com.example.stranger"))
        #expect(Self.reason(try Self.verdict(other)) == "refused: app_mismatch")
        let books = try ReceiptSigner(authority).sign(OpenReceipt.receipt(bundleID: World.booksBundle))
        #expect(Self.reason(try Self.verdict(books)) == "refused: environment_mismatch")
        #expect(Self.reason(try Self.verdict(try ReceiptSigner(authority).sign(OpenReceipt.receipt()))) == "receipt")
    }

    @Test func `nobody is asked about what is no receipt at all`() throws {
        var verifier = try World().verifier()
        let receipts = try World().receiptVerifier()
        for text in ["", "%%%", "{}", "a.b.c", Base64.encode([0x30, 0x03, 0x02, 0x01, 0x01]), "MAA="] {
            let verdict = Verdict.ofReceipt(
                text, product: ProductID("p"), for: World.game, by: receipts, or: &verifier, canAskApple: true,
                now: World.now)
            #expect(Self.reason(verdict).hasPrefix("refused"), "\(text)")
        }
    }

    @Test func `the shared secret goes to Apple and nowhere else; an unusable one is told (S43)`() async throws {
        try await VerificationDatabase.with("apple_secret") { database in
            let apple = try AppleStage.start()
            defer { apple.stop() }
            apple.answer("production", AppleStage.status(21_004))
            let folder = try Command.run("/bin/mktemp", ["-d", "/tmp/purser-secret-XXXXXX"]).split(separator: "\n")[0]
            defer { _ = try? Command.capture("/bin/rm", ["-rf", String(folder)]) }
            let secret = "0123456789abcdef0123456789abcdef"
            let file = "\(folder)/secret"
            let script = "umask 077; printf '%s\\n' \(secret) > \(file)"
            try Command.run("/bin/sh", ["-c", script])
            let secrets = ReceiptSecrets([World.game: ReceiptSecret(file: file)])
            let lines = LineCollector()
            let request = try database.open(try OpenReceipt.container())
            let outcome = try database.run(try apple.handler(secrets: secrets, logger: lines.logger), [request])[0]
            #expect(outcome.outageReason == "receipt.apple_21004")
            #expect(apple.questions.last?.body["password"]?.stringValue == secret)
            #expect(!lines.text.contains(secret) && lines.text.contains("apple_21004"))
            try Command.run("/bin/chmod", ["644", file])
            let refused = try database.run(try apple.handler(secrets: secrets, logger: lines.logger), [request])[0]
            #expect(refused.outageReason == "receipt.secret_unusable" && apple.questions.count == 1)
            #expect(!lines.text.contains(secret) && lines.text.contains("chmod 0400"))
        }
    }
}

extension [UInt8] {
    /// With the last occurrence of some bytes replaced.
    fileprivate func replacingLast(_ old: [UInt8], _ new: [UInt8]) -> [UInt8] {
        guard let range = ranges(of: old).last else { return self }
        return Array(self[..<range.lowerBound]) + new + Array(self[range.upperBound...])
    }
}
