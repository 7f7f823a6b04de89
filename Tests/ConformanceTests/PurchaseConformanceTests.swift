import AppStoreSimulation
import JSON
import Runtime
import Synchronization
import TestSupport
import Testing

/// What every server of this protocol must do with a purchase.
@Suite struct PurchaseConformanceTests {
    @Test func `check 1: the first valid submission is granted and shown`() async throws {
        try await Subject.check { subject in
            let anna = try subject.user("c1-anna")
            let order = try anna.client.order("pyy_danbing_60")
            let purchase = try subject.purchase(by: anna, token: order.appAccountToken)
            let delivery = try anna.client.verify(purchase.signedTransactionInfo, orderNumber: order.number)
            #expect(delivery.status == "GRANTED" && delivery.transactionID == purchase.transactionID)
            #expect(delivery.balance["danbing"] == 60)
            #expect(try anna.ledger() == ["IN 60 = 60 APPLE_IAP"])
        }
    }

    @Test func `check 2: the same submission five times is granted once`() async throws {
        try await Subject.check { subject in
            let anna = try subject.user("c2-anna")
            let purchase = try subject.purchase(by: anna)
            let answers = try (1...5).map { _ in
                try anna.client.verify(purchase.signedTransactionInfo, orderNumber: nil).status
            }
            #expect(answers == ["GRANTED"] + Array(repeating: "ALREADY_GRANTED", count: 4))
            #expect(try anna.ledger() == ["IN 60 = 60 APPLE_IAP"])
        }
    }

    @Test func `check 3: another user's purchase is refused and not to be finished`() async throws {
        try await Subject.check { subject in
            let anna = try subject.user("c3-anna")
            let bert = try subject.user("c3-bert")
            let purchase = try subject.granted(to: anna)
            let problem = refusal { () throws(BackendError) in
                _ = try bert.client.verify(purchase.signedTransactionInfo, orderNumber: nil)
            }
            #expect(problem?.status == 409 && problem?.code == "TRANSACTION_ALREADY_BOUND_TO_OTHER_USER")
            #expect(problem?.mayFinish == false)
            #expect(try bert.client.balance()["danbing"] == 0)
        }
    }

    @Test func `check 4: forty submissions at once are granted once`() async throws {
        try await Subject.check { subject in
            let anna = try subject.user("c4-anna")
            let purchase = try subject.purchase("pyy_danbing_300", by: anna)
            let start = StopSignal()
            let answers = Mutex<[String]>([])
            let (gateway, token) = (subject.gateway, try subject.token(of: anna))
            let threads = (0..<40).map { _ in
                NamedThread.start(name: "submit") {
                    start.wait()
                    let answer = Self.submit(purchase.signedTransactionInfo, gateway, token)
                    answers.withLock { $0.append(answer) }
                }
            }
            start.stop()
            for thread in threads { thread.join() }
            let all = answers.withLock { $0 }
            #expect(all.count { $0 == "GRANTED" } == 1)
            #expect(all.count { $0 == "ALREADY_GRANTED" } == 39)
            #expect(try anna.ledger() == ["IN 300 = 300 APPLE_IAP"])
        }
    }

    @Test func `check 5: a purchase of another app is refused`() async throws {
        try await Subject.check { subject in
            let anna = try subject.user("c5-anna")
            let purchase = try subject.purchase(by: anna, bundleID: "com.example.another")
            let problem = refusal { () throws(BackendError) in
                _ = try anna.client.verify(purchase.signedTransactionInfo, orderNumber: nil)
            }
            #expect(problem?.status == 422 && problem?.code == "APPLE_TRANSACTION_VERIFY_FAILED")
            #expect(try anna.client.balance()["danbing"] == 0)
        }
    }

    @Test func `check 6: what a certificate without Apple's marker signed is refused, though its chain is trusted`()
        async throws
    {
        try await Subject.check { subject in
            let anna = try subject.user("c6-anna")
            let purchase = try subject.purchase(by: anna, isUnmarked: true)
            let problem = refusal { () throws(BackendError) in
                _ = try anna.client.verify(purchase.signedTransactionInfo, orderNumber: nil)
            }
            #expect(problem?.status == 422 && problem?.code == "APPLE_TRANSACTION_VERIFY_FAILED")
            // The same transaction signed as Apple signs: nothing else was wrong with it.
            let genuine = try subject.store.transaction(purchase.transactionID, environment: "Production")
            #expect(try anna.client.verify(genuine.signedTransactionInfo, orderNumber: nil).status == "GRANTED")
        }
    }

    @Test func `check 7: a product nobody knows is kept, not granted and not to be finished`() async throws {
        try await Subject.check { subject in
            let anna = try subject.user("c7-anna")
            let purchase = try subject.purchase("pyy_unheard_of", by: anna)
            let problem = refusal { () throws(BackendError) in
                _ = try anna.client.verify(purchase.signedTransactionInfo, orderNumber: nil)
            }
            #expect(problem?.status == 404 && problem?.code == "UNKNOWN_APPLE_PRODUCT_ID")
            #expect(problem?.mayFinish == false)
            #expect(try anna.ledger() == [])
        }
    }

    @Test func `check 8: a revoked transaction is not granted and may be finished`() async throws {
        try await Subject.check { subject in
            let anna = try subject.user("c8-anna")
            let id = try subject.purchase(by: anna).transactionID
            let refunded = try subject.store.refund(id, environment: "Production", notification: .never)
            let problem = refusal { () throws(BackendError) in
                _ = try anna.client.verify(refunded.signedTransactionInfo, orderNumber: nil)
            }
            #expect(problem?.status == 409 && problem?.code == "TRANSACTION_ALREADY_REVOKED")
            #expect(problem?.mayFinish == true)
            #expect(try anna.client.balance()["danbing"] == 0)
        }
    }

    @Test func `check 9: a sandbox purchase follows the policy: refused to who is not listed`() async throws {
        try await Subject.check { subject in
            let anna = try subject.user("c9-anna")
            let purchase = try subject.purchase(by: anna, environment: "Sandbox")
            let problem = refusal { () throws(BackendError) in
                _ = try anna.client.verify(purchase.signedTransactionInfo, orderNumber: nil)
            }
            #expect(problem?.status == 403 && problem?.code == "SANDBOX_NOT_ALLOWED")
            #expect(problem?.mayFinish == false)
            #expect(try anna.client.balance()["danbing"] == 0)
        }
    }

    @Test func `check 10: three units grant three times as much`() async throws {
        try await Subject.check { subject in
            let anna = try subject.user("c10-anna")
            let purchase = try subject.purchase(by: anna, quantity: 3)
            let delivery = try anna.client.verify(purchase.signedTransactionInfo, orderNumber: nil)
            #expect(delivery.balance["danbing"] == 180)
            #expect(try anna.ledger() == ["IN 180 = 180 APPLE_IAP"])
        }
    }

    @Test func `check 11: a purchase with another user's token is refused before its owner ever sends it`()
        async throws
    {
        try await Subject.check { subject in
            let anna = try subject.user("c11-anna")
            let bert = try subject.user("c11-bert")
            let order = try anna.client.order("pyy_danbing_60")
            let purchase = try subject.purchase(by: anna, token: order.appAccountToken)
            let problem = refusal { () throws(BackendError) in
                _ = try bert.client.verify(purchase.signedTransactionInfo, orderNumber: nil)
            }
            #expect(problem?.status == 409 && problem?.code == "TRANSACTION_ALREADY_BOUND_TO_OTHER_USER")
            #expect(try bert.client.balance()["danbing"] == 0)
            let delivery = try anna.client.verify(purchase.signedTransactionInfo, orderNumber: order.number)
            #expect(delivery.status == "GRANTED")
        }
    }

    @Test(.enabled(if: Subject.canBreak, "PURSER_DRILL_SCRIPTS says how processes are stopped"))
    func `check 19: a grant that fails once is granted once by the next submission`() async throws {
        try await Subject.check { subject in
            let anna = try subject.user("c19-anna")
            let order = try anna.client.order("pyy_danbing_60")
            let purchase = try subject.purchase(by: anna, token: order.appAccountToken)
            try subject.control("kill", "granting")
            let problem = refusal { () throws(BackendError) in
                _ = try anna.client.verify(purchase.signedTransactionInfo, orderNumber: order.number)
            }
            #expect(problem?.status == 503 && problem?.mayFinish == false)
            try subject.control("start", "granting")
            try subject.control("wait", "granting")
            // The first submission may be granted before the second is looked at.
            let delivery = try anna.client.verify(purchase.signedTransactionInfo, orderNumber: order.number)
            #expect(["GRANTED", "ALREADY_GRANTED"].contains(delivery.status))
            #expect(delivery.balance["danbing"] == 60)
            #expect(try anna.ledger() == ["IN 60 = 60 APPLE_IAP"])
        }
    }

    /// Submits on a connection of its own, again when told to come back: the status, or the code of the refusal.
    private static func submit(_ evidence: String, _ gateway: String, _ token: String) -> String {
        let pause = StopSignal()
        for _ in 1...60 {
            do throws(BackendError) {
                var client = try BackendClient(base: gateway, token: token)
                return try client.verify(evidence, orderNumber: nil).status
            } catch {
                guard error.isRetryable else { return error.code }
                // The server's own limits: bounded by the attempts above.
                _ = pause.wait(for: .milliseconds(500))
            }
        }
        return "never"
    }
}
