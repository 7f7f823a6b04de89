import AppStoreSimulation
import JOSE
import JSON
import TestSupport
import Testing

/// Evidence that is not what it seems, against the real processes.
@Suite struct EvidenceTests {
    /// The log line "security event" of a request.
    private static func securityEvent(_ deployment: Deployment, _ problem: BackendProblem?) throws -> String? {
        let id = try #require(problem?.requestID)
        for line in TextFiles.read(deployment.log(.gateway)).split(separator: "\n")
        where line.contains("security event") && line.contains(id) {
            return try JSONReader.parseObject(Array(line.utf8))["security.event"]?.stringValue
        }
        return nil
    }

    @Test func `the other valid signature of the same transaction is the same transaction (S06)`() async throws {
        let deployment = try await Deployment.shared("purchases")
        try await onThread {
            var backend = try deployment.backend("s06-anna")
            let purchase = try deployment.purchase("pyy_danbing_60", account: "s06-anna")
            let twin = try #require(TransactionSigner.malleableTwin(of: Array(purchase.signedTransactionInfo.utf8)))
            let text = String(decoding: twin, as: UTF8.self)
            #expect(text != purchase.signedTransactionInfo)
            #expect(try backend.verify(purchase.signedTransactionInfo, orderNumber: nil).status == "GRANTED")
            #expect(try backend.verify(text, orderNumber: nil).status == "ALREADY_GRANTED")
            #expect(try Books(deployment: deployment).grants(purchase.transactionID) == 1)
            #expect(try backend.balance() == ["danbing": 60, "timeMinutes": 0])
        }
    }

    @Test func `no mutant of a signed transaction is believed, and none takes the place of the genuine one (S06 S20)`()
        async throws
    {
        let deployment = try await Deployment.shared("hostile")
        try await onThread {
            var backend = try deployment.backend("mutant-anna")
            let purchase = try deployment.purchase("pyy_danbing_60", account: "mutant-anna")
            let jws = Array(purchase.signedTransactionInfo.utf8)
            let twin = try #require(TransactionSigner.malleableTwin(of: jws))
            var asked = 0
            for mutant in try JWSMutant.all(of: jws) where mutant.text != jws {
                // What is no text cannot be written into the request; white space around one is nobody's fault.
                guard let text = String(validating: mutant.text, as: UTF8.self),
                    text.trimmingPrefix(" ") + "\n" != purchase.signedTransactionInfo + "\n",
                    text != purchase.signedTransactionInfo + "\n"
                else { continue }
                let problem = refusal { () throws(BackendError) in _ = try backend.verify(text, orderNumber: nil) }
                let code = problem?.code ?? "accepted"
                #expect(Self.refusals.contains(code), "\(mutant.name): \(code)")
                asked += 1
            }
            #expect(asked > 200)
            #expect(try Books(deployment: deployment).grants(purchase.transactionID) == 0)
            #expect(try backend.verify(purchase.signedTransactionInfo, orderNumber: nil).status == "GRANTED")
            let again = String(decoding: twin, as: UTF8.self)
            #expect(try backend.verify(again, orderNumber: nil).status == "ALREADY_GRANTED")
            #expect(try backend.balance() == ["danbing": 60, "timeMinutes": 0])
        }
    }

    /// Forged, too long, or nothing that JSON can carry.
    private static let refusals = ["APPLE_TRANSACTION_VERIFY_FAILED", "PAYLOAD_TOO_LARGE", "MALFORMED_REQUEST"]

    @Test func `a transaction of another app is refused and logged as a security event (S21, A-130, A-131)`()
        async throws
    {
        let deployment = try await Deployment.shared("purchases")
        try await onThread {
            var backend = try deployment.backend("s21-anna")
            let purchase = try deployment.purchase(
                "pyy_danbing_60", account: "s21-anna", bundleID: "com.example.cheap")
            let problem = refusal { () throws(BackendError) in
                _ = try backend.verify(purchase.signedTransactionInfo, orderNumber: nil)
            }
            #expect(problem?.status == 422)
            #expect(problem?.code == "APPLE_TRANSACTION_VERIFY_FAILED")
            #expect(try Self.securityEvent(deployment, problem) == "other_app")
            #expect(try Books(deployment: deployment).grants(purchase.transactionID) == 0)
        }
    }

    @Test func `what another authority of Apple's shape signed is refused and logged (A-004, A-080)`() async throws {
        let deployment = try await Deployment.shared("purchases")
        try await onThread {
            var backend = try deployment.backend("forged-anna")
            let genuine = try deployment.purchase("pyy_danbing_60", account: "forged-anna")
            let payload = try CompactJWS(Array(genuine.signedTransactionInfo.utf8)).decodePayload()
            let forger = TransactionSigner(try SimulatedAuthority.generate())
            let forged = String(decoding: try forger.sign(payload: payload), as: UTF8.self)
            let problem = refusal { () throws(BackendError) in _ = try backend.verify(forged, orderNumber: nil) }
            #expect(problem?.status == 422)
            #expect(problem?.code == "APPLE_TRANSACTION_VERIFY_FAILED")
            #expect(try Self.securityEvent(deployment, problem) == "forged_evidence")
            // A forgery does not occupy the genuine key.
            #expect(try backend.verify(genuine.signedTransactionInfo, orderNumber: nil).status == "GRANTED")
        }
    }

    @Test func `another user's transaction is refused and logged as a security event (A-090, A-130)`() async throws {
        let deployment = try await Deployment.shared("purchases")
        try await onThread {
            var anna = try deployment.backend("a130-anna")
            var bert = try deployment.backend("a130-bert")
            let purchase = try deployment.purchase("pyy_danbing_60", account: "a130-anna")
            _ = try anna.verify(purchase.signedTransactionInfo, orderNumber: nil)
            let problem = refusal { () throws(BackendError) in
                _ = try bert.verify(purchase.signedTransactionInfo, orderNumber: nil)
            }
            #expect(problem?.code == "TRANSACTION_ALREADY_BOUND_TO_OTHER_USER")
            #expect(try Self.securityEvent(deployment, problem) == "binding_conflict")
        }
    }

    @Test
    func `a sandbox purchase is refused to an ordinary user and granted and marked for a tester (A-132, A-146, S20)`()
        async throws
    {
        let deployment = try await Deployment.shared("purchases")
        try await onThread {
            var anna = try deployment.backend("s20-anna")
            let refused = try deployment.purchase("pyy_danbing_60", account: "s20-anna", environment: "Sandbox")
            let problem = refusal { () throws(BackendError) in
                _ = try anna.verify(refused.signedTransactionInfo, orderNumber: nil)
            }
            #expect(problem?.status == 403)
            #expect(problem?.code == "SANDBOX_NOT_ALLOWED")
            #expect(problem?.mayFinish == false)
            #expect(try anna.balance() == ["danbing": 0, "timeMinutes": 0])

            let app = try deployment.device(Deployment.tester, environment: "Sandbox")
            guard case .delivered(let delivery) = try app.buy("pyy_danbing_300") else {
                Issue.record("not delivered to the tester")
                return
            }
            #expect(delivery.status == "GRANTED")
            var tester = try deployment.backend(Deployment.tester)
            let transaction = try tester.send("GET", "/api/iap/transactions/" + delivery.transactionID)
            #expect(transaction["environment"] == "SANDBOX")
            let ledger = try tester.send("GET", "/api/wallet/ledger?limit=1")
            #expect(try ledger.array("entries").first?.objectValue?["environment"] == "SANDBOX")
        }
    }

    @Test(arguments: ["Xcode", "LocalTesting", "production"])
    func `environments that are not Apple's two are refused (A-054)`(environment: String) async throws {
        let deployment = try await Deployment.shared("purchases")
        try await onThread {
            var backend = try deployment.backend("a054-anna")
            let purchase = try deployment.purchase(
                "pyy_danbing_60", account: "a054-anna", fields: ["environment": .string(environment)])
            let problem = refusal { () throws(BackendError) in
                _ = try backend.verify(purchase.signedTransactionInfo, orderNumber: nil)
            }
            #expect(problem?.code == "APPLE_TRANSACTION_VERIFY_FAILED")
            #expect(try Books(deployment: deployment).grants(purchase.transactionID) == 0)
        }
    }

    @Test func `a refund inside a newer statement is taken back, and its reversal given back (A-089, A-145)`()
        async throws
    {
        let deployment = try await Deployment.shared("purchases")
        try await onThread {
            let user = "a145-anna"
            guard case .delivered(let delivery) = try deployment.device(user).buy("pyy_danbing_300") else {
                Issue.record("not delivered")
                return
            }
            let store = try deployment.store()
            var backend = try deployment.backend(user)
            let part = try store.refund(delivery.transactionID, environment: "Production", percentage: 40)
            let partly = try backend.verify(part.signedTransactionInfo, orderNumber: nil)
            #expect(partly.status == "ALREADY_GRANTED")
            #expect(partly.balance == ["danbing": 180, "timeMinutes": 0])
            let whole = try store.refund(delivery.transactionID, environment: "Production")
            let problem = refusal { () throws(BackendError) in
                _ = try backend.verify(whole.signedTransactionInfo, orderNumber: nil)
            }
            #expect(problem?.code == "TRANSACTION_ALREADY_REVOKED")
            #expect(problem?.mayFinish == true)
            #expect(try backend.balance() == ["danbing": 0, "timeMinutes": 0])
            // The older statement again undoes nothing.
            let older = refusal { () throws(BackendError) in
                _ = try backend.verify(part.signedTransactionInfo, orderNumber: nil)
            }
            #expect(older?.code == "TRANSACTION_ALREADY_REVOKED")
            let reversed = try store.refund(delivery.transactionID, environment: "Production", percentage: 0)
            #expect(
                try backend.verify(reversed.signedTransactionInfo, orderNumber: nil).balance
                    == ["danbing": 300, "timeMinutes": 0])
            let page = try backend.send("GET", "/api/wallet/ledger")
            let sources = try page.readEach("entries") { (row) throws(JSONError) in try row.string("sourceType") }
            #expect(sources == ["APPLE_REFUND_REVERSED", "APPLE_REFUND", "APPLE_REFUND", "APPLE_IAP"])
            try Books(deployment: deployment).expectConsistent()
        }
    }
}
