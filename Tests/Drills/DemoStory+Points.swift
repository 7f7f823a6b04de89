import AppStoreSimulation
import JSON

/// A second app in the same deployment, with other calls: packages of points, and a starter pack once a person.
extension DemoStory {
    private static let bundle = "com.meeyao.qianwen"

    /// The scene. The app is where apps/points.yaml says, on this machine.
    func sellPoints(_ settings: DrillSettings) throws {
        expectations.scene(
            "16. The other app: Anna buys a starter pack of points (GET /api/v1/points/packages, POST …/verify)")
        let base = try settings.value("GATEWAY_URL").replacing("127.0.0.1", with: "points.localhost")
        let login = try settings.pointsLogin().tokens()
        let address = "\(anna)@example.com"
        var app = try BackendClient(base: base, token: try login.token(anna, email: address))
        let (token, offered) = try packages(&app)
        expectations.expect(
            "on sale to her", offered, ["new_user_pack", "starter_pack", "popular_pack", "premium_pack"])
        let first = try starter(token)
        let answer = try app.send("POST", Self.verify, body(first, token))
        expectations.expect("answer", answer["status"]?.stringValue ?? "", "granted")
        expectations.expect("points", answer["newBalance"]?.intValue ?? -1, 60)
        let again = try app.send("POST", Self.verify, body(first, token))
        expectations.expect("the same again", again["status"]?.stringValue ?? "", "already_granted")
        try store.finish(first.transactionID, environment: first.environment)
        expectations.expect("on sale to her now", try packages(&app).offered.contains("new_user_pack"), false)
        let second = try starter(token)
        let refusal = try expectations.expectRefusal("a second one", 409, "PAYMENT_STARTER_PACK_INELIGIBLE") {
            () throws(BackendError) in _ = try app.send("POST", Self.verify, body(second, token))
        }
        expectations.expect("it is kept for support, so it may be finished", refusal?.mayFinish ?? false, true)
        expectations.tell("another account, the same address in capitals")
        let twin = try login.token(anna + "-2", email: address.uppercased())
        var other = try BackendClient(base: base, token: twin)
        let (otherToken, otherOffered) = try packages(&other)
        expectations.expect("on sale to that account", otherOffered.contains("new_user_pack"), false)
        let third = try starter(otherToken)
        try expectations.expectRefusal("bought all the same", 409, "PAYMENT_STARTER_PACK_INELIGIBLE") {
            () throws(BackendError) in _ = try other.send("POST", Self.verify, body(third, otherToken))
        }
        expectations.expect(
            "her points", try app.send("GET", "/api/v1/points/balance")["balance"]?.intValue ?? -1, 60)
    }

    private static let verify = "/api/v1/payments/apple/transactions/verify"

    private func packages(_ app: inout BackendClient) throws -> (token: String, offered: [String]) {
        let body = try app.send("GET", "/api/v1/points/packages")
        let offered = try body.readEach("packages") { (package) throws(JSONError) in try package.string("productCode") }
        return (try body.string("appAccountToken"), offered)
    }

    private func starter(_ token: String) throws -> SignedPurchase {
        let request = PurchaseRequest(
            bundleID: Self.bundle, productID: Self.bundle + ".new_user_pack", appleAccount: anna,
            appAccountToken: token, notification: .never)
        guard case .purchased(let purchase) = try store.purchase(request) else {
            throw Expectations.Stopped(description: "the store waits for approval nobody asked for")
        }
        expectations.tell("Apple charges and signs transaction \(purchase.transactionID)")
        return purchase
    }

    private func body(_ purchase: SignedPurchase, _ token: String) -> JSONObject {
        [
            "productCode": "new_user_pack", "appStoreProductId": .string(Self.bundle + ".new_user_pack"),
            "transactionId": .string(purchase.transactionID),
            "signedTransactionInfo": .string(purchase.signedTransactionInfo), "appAccountToken": .string(token),
        ]
    }
}
