import AppStoreSimulation
import JSON
import TestSupport
import Testing

/// Document B's client, played against the real processes.
@Suite struct PointsTests {
    private static let bundle = "com.meeyao.qianwen"
    private static let verify = "/api/v1/payments/apple/transactions/verify"

    private static func body(_ code: String, _ purchase: SignedPurchase, _ token: String?) -> JSONObject {
        var body: JSONObject = [
            "productCode": .string(code), "appStoreProductId": .string("\(bundle).\(code)"),
            "transactionId": .string(purchase.transactionID),
            "signedTransactionInfo": .string(purchase.signedTransactionInfo),
        ]
        if let token { body.set("appAccountToken", .string(token)) }
        return body
    }

    private static func codes(_ packages: JSONObject) -> [String] {
        packages["packages"]?.arrayValue?.compactMap { $0.objectValue?["productCode"]?.stringValue } ?? []
    }

    private static func buy(
        _ deployment: Deployment, _ code: String, _ account: String, _ token: String?
    ) throws -> SignedPurchase {
        try deployment.purchase("\(bundle).\(code)", account: account, token: token, bundleID: bundle)
    }

    private static func problem(_ call: () throws(BackendError) -> Void) -> BackendProblem? {
        do { try call() } catch {
            if case .problem(let problem) = error { return problem }
        }
        return nil
    }

    @Test
    func `the thirteen steps of document B's client, and a repetition (B-092…B-108 B-111 B-134…B-139)`()
        async throws
    {
        let deployment = try await Deployment.shared("purchases")
        try await onThread {
            let user = "points-anna"
            var app = try deployment.pointsBackend(user, email: "points-anna@example.com")
            // 1–4: packages, mapped to products that StoreKit is asked for.
            let packages = try app.send("GET", "/api/v1/points/packages")
            #expect(Self.codes(packages) == ["new_user_pack", "starter_pack", "popular_pack", "premium_pack"])
            let token = try #require(packages["appAccountToken"]?.stringValue)
            #expect(try app.send("GET", "/api/v1/points/app-account-token")["appAccountToken"] == .string(token))
            // 5–8: bought with the token; 9, 10: nothing is called while it is pending or fails.
            let purchase = try Self.buy(deployment, "popular_pack", user, token)
            let before = Self.problem { () throws(BackendError) in
                _ = try app.send("GET", "/api/v1/payments/apple/transactions/\(purchase.transactionID)")
            }
            #expect(before?.status == 404 && before?.code == "PAYMENT_TRANSACTION_NOT_FOUND")
            // 11: verified. The answer is lost, the app starts again: what is unfinished is sent again.
            let first = try app.send("POST", Self.verify, Self.body("popular_pack", purchase, token))
            #expect(first["status"] == "granted" && first["creditsAdded"] == 210 && first["newBalance"] == 210)
            #expect(first["ledgerEventId"] == .string("payment.apple_iap:\(purchase.transactionID)"))
            let unfinished = try deployment.store().unfinished(appleAccount: user, environment: "Production")
            #expect(unfinished.map(\.transactionID) == [purchase.transactionID])
            let again = try app.send("POST", Self.verify, Self.body("popular_pack", purchase, nil))
            #expect(again["status"] == "already_granted" && again["creditsAdded"] == 0 && again["newBalance"] == 210)
            // 12, 13: finished; balance and packages are loaded again.
            try deployment.store().finish(purchase.transactionID, environment: "Production")
            #expect(try app.send("GET", "/api/v1/points/balance")["balance"] == 210)
            let stored = try app.send("GET", "/api/v1/payments/apple/transactions/\(purchase.transactionID)")
            #expect(stored["status"] == "granted" && stored["productCode"] == "popular_pack")
            #expect(stored["environment"] == "Production" && stored["isCredited"] == true)
            try Books(deployment: deployment).expectConsistent()
        }
    }

    @Test func `a starter pack once an address, whatever account it is in (B-020 B-025 B-027 B-165)`() async throws {
        let deployment = try await Deployment.shared("purchases")
        try await onThread {
            let address = "points-bert@example.com"
            var app = try deployment.pointsBackend("points-bert", email: address)
            let token = try app.send("GET", "/api/v1/points/packages")["appAccountToken"]?.stringValue
            let purchase = try Self.buy(deployment, "new_user_pack", "points-bert", token)
            let answer = try app.send("POST", Self.verify, Self.body("new_user_pack", purchase, token))
            #expect(answer["status"] == "granted" && answer["creditsAdded"] == 60)
            #expect(!Self.codes(try app.send("GET", "/api/v1/points/packages")).contains("new_user_pack"))
            let second = try Self.buy(deployment, "new_user_pack", "points-bert", token)
            let refused = Self.problem { () throws(BackendError) in
                _ = try app.send("POST", Self.verify, Self.body("new_user_pack", second, token))
            }
            #expect(refused?.status == 409 && refused?.code == "PAYMENT_STARTER_PACK_INELIGIBLE")
            #expect(refused?.mayFinish == true)
            // Another account of the same address, spelled in another way.
            var other = try deployment.pointsBackend("points-bert-2", email: "Points-Bert@Example.com")
            let packages = try other.send("GET", "/api/v1/points/packages")
            #expect(!Self.codes(packages).contains("new_user_pack"))
            let token2 = packages["appAccountToken"]?.stringValue
            let third = try Self.buy(deployment, "new_user_pack", "points-bert-2", token2)
            let again = Self.problem { () throws(BackendError) in
                _ = try other.send("POST", Self.verify, Self.body("new_user_pack", third, token2))
            }
            #expect(again?.code == "PAYMENT_STARTER_PACK_INELIGIBLE")
            #expect(try other.send("GET", "/api/v1/points/balance")["balance"] == 0)
        }
    }

    @Test func `wrong products, ids and tokens are refused in document B's words, and nothing is lost (B-082…B-090)`()
        async throws
    {
        let deployment = try await Deployment.shared("purchases")
        try await onThread {
            var app = try deployment.pointsBackend("points-carl", email: nil)
            var other = try deployment.pointsBackend("points-dora", email: nil)
            let token = try app.send("GET", "/api/v1/points/packages")["appAccountToken"]?.stringValue
            let foreign = try other.send("GET", "/api/v1/points/packages")["appAccountToken"]?.stringValue
            let purchase = try Self.buy(deployment, "starter_pack", "points-carl", token)
            let good = Self.body("starter_pack", purchase, token)
            let changes: [(String, JSONValue, Int, String)] = [
                ("productCode", "nobodys_pack", 404, "PAYMENT_PRODUCT_NOT_FOUND"),
                ("productCode", "premium_pack", 422, "PAYMENT_PRODUCT_MISMATCH"),
                ("appStoreProductId", "com.meeyao.qianwen.premium_pack", 422, "PAYMENT_PRODUCT_MISMATCH"),
                ("transactionId", "7", 422, "PAYMENT_TRANSACTION_INVALID"),
                ("signedTransactionInfo", "a.b.c", 422, "PAYMENT_TRANSACTION_INVALID"),
                ("appAccountToken", .string(foreign ?? ""), 409, "PAYMENT_TRANSACTION_CONFLICT"),
            ]
            for (member, value, status, code) in changes {
                var body = good
                body.set(member, value)
                let problem = Self.problem { () throws(BackendError) in _ = try app.send("POST", Self.verify, body) }
                #expect(problem?.status == status && problem?.code == code, "\(member): \(problem?.code ?? "none")")
                #expect(problem?.mayFinish == false)
            }
            let stolen = Self.body("starter_pack", purchase, nil)
            let problem = Self.problem { () throws(BackendError) in _ = try other.send("POST", Self.verify, stolen) }
            #expect(problem?.status == 409 && problem?.code == "PAYMENT_TRANSACTION_CONFLICT")
            #expect(try app.send("POST", Self.verify, good)["status"] == "granted")
            // The app of document A knows no such call.
            var clouds = try deployment.backend("points-carl")
            let elsewhere = Self.problem { () throws(BackendError) in
                _ = try clouds.send("GET", "/api/v1/points/balance")
            }
            #expect(elsewhere?.status == 404 && elsewhere?.code == "NOT_FOUND")
        }
    }
}
