import AppStoreSimulation
import Crypto
import Glibc
import JOSE
import JSON
import Observability

/// Anna buys, Bert tries to take it, a forger tries to make it; Anna spends and gets some money back; Apple tells what
/// no client does.
///
/// Users are new in every run, so it can be repeated on the same system. One thread.
final class DemoStory {
    var expectations = Expectations()
    let anna: String
    let bert: String
    private let annaToken: String
    private let bundleID: String
    private let gateway: String
    let store: RemoteStore
    private let file: String
    /// The read-only auditor of the books, where the deployment is on this machine.
    let auditor: Secret?
    var app: BackendClient
    var other: BackendClient
    var server: BackendClient

    /// A purchase with its order.
    struct Bought {
        let order: BackendClient.Order
        let purchase: SignedPurchase
    }

    init(_ settings: DrillSettings) throws {
        let run = Hex.encode(try RandomBytes.generate(4))
        anna = "anna-" + run
        bert = "bert-" + run
        gateway = try settings.value("GATEWAY_URL")
        bundleID = try settings.value("BUNDLE_ID")
        store = try RemoteStore(base: try settings.value("SIMULATOR_URL"))
        file = "/tmp/purser-demo-\(run).json"
        auditor = (try? settings.value("DATABASE")).map { Secret($0) }
        let login = try settings.login().tokens()
        annaToken = try login.token(anna)
        app = try BackendClient(base: gateway, token: annaToken)
        other = try BackendClient(base: gateway, token: try login.token(bert))
        server = try BackendClient(base: gateway, token: try settings.service().tokens().token("cloud-pc"))
    }

    /// All scenes, in order.
    func tellAll() throws {
        try lookAround()
        let first = try buy()
        try repeatIt(first)
        let second = try fiveTimes()
        try takeFromAnna(first)
        try forge(first)
        try mixUpOrders()
        try useTheApp()
        try spend()
        try refund(first)
        try readTheBooks(first, second)
        try tellWhatAppleTells(bundleID: bundleID, gateway: gateway)
    }

    func expectBalance(danbing: Int64, minutes: Int64) throws {
        expectations.expect("wallet", try app.balance(), ["danbing": danbing, "timeMinutes": minutes])
    }

    func order(_ product: String) throws -> BackendClient.Order {
        let order = try app.order(product)
        expectations.tell("order \(order.number) with appAccountToken \(order.appAccountToken)")
        return order
    }

    /// Until the last scenes Apple tells nobody but the client: what is answered then depends on nobody else.
    func purchase(
        _ product: String, _ order: BackendClient.Order, by account: String? = nil,
        notification: DeliveryPlan = .never
    ) throws -> SignedPurchase {
        let request = PurchaseRequest(
            bundleID: bundleID, productID: product, appleAccount: account ?? anna,
            appAccountToken: order.appAccountToken, notification: notification)
        guard case .purchased(let purchase) = try store.purchase(request) else {
            throw Expectations.Stopped(description: "the store waits for approval nobody asked for")
        }
        expectations.tell("Apple charges and signs transaction \(purchase.transactionID)")
        return purchase
    }

    // MARK: - Scenes

    private func lookAround() throws {
        expectations.scene("1. What is on sale (GET /api/iap/products)")
        let products = try app.products()
        for product in products {
            let grants = "\(product.grantAmount ?? 0) \(product.assetType ?? "?")"
            expectations.tell("\(product.code)  \(product.appleProductID)  \(grants)")
        }
        let expected = [
            "pyy_danbing_60", "pyy_danbing_300", "pyy_danbing_680", "pyy_timecard_30m", "pyy_timecard_60m",
            "pyy_timecard_180m", "pyy_timecard_600m",
        ]
        expectations.expect("products, sorted", products.map(\.appleProductID), expected)
        try expectBalance(danbing: 0, minutes: 0)
    }

    private func buy() throws -> Bought {
        expectations.scene("2. Anna buys 60 danbing (order, purchase, POST /api/iap/apple/verify)")
        let order = try order("pyy_danbing_60")
        expectations.expect("the order is for", order.appleProductID, "pyy_danbing_60")
        let purchase = try purchase("pyy_danbing_60", order)
        let delivery = try app.verify(purchase.signedTransactionInfo, orderNumber: order.number)
        expectations.expect("answer", delivery.status, "GRANTED")
        expectations.expect("transaction", delivery.transactionID, purchase.transactionID)
        expectations.expect(
            "granted",
            "\(delivery.body["grantAmount"]?.intValue ?? 0) \(delivery.body["assetType"]?.stringValue ?? "")",
            "60 DANBING")
        expectations.expect("balance in the answer", delivery.balance, ["danbing": 60, "timeMinutes": 0])
        try store.finish(purchase.transactionID, environment: purchase.environment)
        try expectBalance(danbing: 60, minutes: 0)
        return Bought(order: order, purchase: purchase)
    }

    private func repeatIt(_ bought: Bought) throws {
        expectations.scene("3. The same submission again")
        let delivery = try app.verify(bought.purchase.signedTransactionInfo, orderNumber: bought.order.number)
        expectations.expect("answer", delivery.status, "ALREADY_GRANTED")
        expectations.expect("balance in the answer", delivery.balance, ["danbing": 60, "timeMinutes": 0])
    }

    private func fiveTimes() throws -> Bought {
        expectations.scene("4. Another purchase, submitted five times")
        let order = try order("pyy_danbing_300")
        let purchase = try purchase("pyy_danbing_300", order)
        var answers: [String] = []
        for _ in 1...5 {
            answers.append(try app.verify(purchase.signedTransactionInfo, orderNumber: order.number).status)
        }
        expectations.expect("answers", answers, ["GRANTED"] + Array(repeating: "ALREADY_GRANTED", count: 4))
        try store.finish(purchase.transactionID, environment: purchase.environment)
        try expectBalance(danbing: 360, minutes: 0)
        return Bought(order: order, purchase: purchase)
    }

    private func takeFromAnna(_ bought: Bought) throws {
        expectations.scene("5. Bert sends Anna's transaction")
        let evidence = bought.purchase.signedTransactionInfo
        let problem = try expectations.expectRefusal(
            "without an order", 409, "TRANSACTION_ALREADY_BOUND_TO_OTHER_USER"
        ) { () throws(BackendError) in _ = try other.verify(evidence, orderNumber: nil) }
        let members = JSONWriter.write(problem?.body ?? [:])
        expectations.expect(
            "does the answer name Anna", String(decoding: members, as: UTF8.self).contains(anna), false)
        expectations.expect("may he finish it", problem?.mayFinish ?? true, false)
        try expectations.expectRefusal("with Anna's order", 409, "TRANSACTION_ALREADY_BOUND_TO_OTHER_USER") {
            () throws(BackendError) in _ = try other.verify(evidence, orderNumber: bought.order.number)
        }
        let order = try app.order("pyy_danbing_60")
        let fresh = try purchase("pyy_danbing_60", order)
        try expectations.expectRefusal("a new one with Anna's order", 403, "ORDER_USER_MISMATCH") {
            () throws(BackendError) in
            _ = try other.verify(fresh.signedTransactionInfo, orderNumber: order.number)
        }
        expectations.expect("Bert's wallet", try other.balance(), ["danbing": 0, "timeMinutes": 0])
        let delivery = try app.verify(fresh.signedTransactionInfo, orderNumber: order.number)
        expectations.expect("Anna's own submission of it", delivery.status, "GRANTED")
        try store.finish(fresh.transactionID, environment: fresh.environment)
        try expectBalance(danbing: 420, minutes: 0)
    }

    private func forge(_ bought: Bought) throws {
        expectations.scene("6. A forger signs with certificates of Apple's shape, but not Apple's")
        let genuine = try CompactJWS(Array(bought.purchase.signedTransactionInfo.utf8))
        var payload = try JSONReader.parseObject(try genuine.decodePayload())
        payload.set("transactionId", "9007199254740777")
        let forger = TransactionSigner(try SimulatedAuthority.generate())
        let forged = String(decoding: try forger.sign(payload), as: UTF8.self)
        try expectations.expectRefusal("forged certificates", 422, "APPLE_TRANSACTION_VERIFY_FAILED") {
            () throws(BackendError) in _ = try app.verify(forged, orderNumber: bought.order.number)
        }
        let parts = bought.purchase.signedTransactionInfo.split(separator: ".")
        let changed = "\(parts[0]).\(Base64URL.string(JSONWriter.write(payload))).\(parts[2])"
        try expectations.expectRefusal("a changed payload", 422, "APPLE_TRANSACTION_VERIFY_FAILED") {
            () throws(BackendError) in _ = try app.verify(changed, orderNumber: bought.order.number)
        }
        try expectBalance(danbing: 420, minutes: 0)
    }

    private func mixUpOrders() throws {
        expectations.scene("7. An order for danbing, a transaction for a time card")
        let order = try order("pyy_danbing_60")
        let purchase = try purchase("pyy_timecard_60m", order)
        try expectations.expectRefusal("the mix-up", 409, "ORDER_PRODUCT_MISMATCH") { () throws(BackendError) in
            _ = try app.verify(purchase.signedTransactionInfo, orderNumber: order.number)
        }
        try expectBalance(danbing: 420, minutes: 0)
        expectations.tell("she paid, so it is delivered without the order")
        let delivery = try app.verify(purchase.signedTransactionInfo, orderNumber: nil)
        expectations.expect("answer", delivery.status, "GRANTED")
        try store.finish(purchase.transactionID, environment: purchase.environment)
        try expectBalance(danbing: 420, minutes: 60)
    }

    private func useTheApp() throws {
        expectations.scene("8. The app itself buys 180 minutes and finishes the transaction when it is told to")
        defer { unlink(file) }
        var settings = StoreKitClient.Settings(
            backend: gateway, loginToken: annaToken, bundleID: bundleID, appleAccount: anna, file: file)
        settings.notification = .never
        let device = try StoreKitClient(settings, store: store)
        let outcome = try device.buy("pyy_timecard_180m")
        if case .delivered(let delivery) = outcome {
            expectations.expect("answer", delivery.status, "GRANTED")
        } else {
            expectations.expect("answer", "\(outcome)", "GRANTED")
        }
        expectations.expect("the app shows", device.shownBalance ?? [:], ["danbing": 420, "timeMinutes": 240])
        let unfinished = try store.unfinished(appleAccount: anna, environment: "Production")
        expectations.expect("unfinished at Apple", unfinished.count, 0)
    }

    private func spend() throws {
        expectations.scene("9. Anna's cloud PC runs for 30 minutes (POST /api/wallet/consume)")
        func body(_ id: String, _ amount: Int64) -> JSONObject {
            [
                "userId": .string(anna), "assetType": "TIME_MINUTES", "amount": .integer(amount),
                "sourceId": .string(id), "deadline": "2099-01-01T00:00:00Z",
            ]
        }
        let spent = try server.send("POST", "/api/wallet/consume", body("session-1", 30))
        expectations.expect("minutes left", spent["balanceAfter"]?.intValue ?? -1, 210)
        let again = try server.send("POST", "/api/wallet/consume", body("session-1", 30))
        expectations.expect("the same request again", again, spent)
        try expectations.expectRefusal("its id with another amount", 409, "SPEND_CONFLICT") {
            () throws(BackendError) in _ = try server.send("POST", "/api/wallet/consume", body("session-1", 31))
        }
        try expectations.expectRefusal("more than there is", 409, "TIME_NOT_ENOUGH") {
            () throws(BackendError) in _ = try server.send("POST", "/api/wallet/consume", body("session-2", 211))
        }
        try expectations.expectRefusal("with Anna's own token", 403, "WRONG_TOKEN_KIND") {
            () throws(BackendError) in _ = try app.send("POST", "/api/wallet/consume", body("session-3", 1))
        }
        try expectBalance(danbing: 420, minutes: 210)
    }

    private func refund(_ bought: Bought) throws {
        expectations.scene("10. Apple refunds the first purchase; the app sends the newer statement")
        let newer = try store.refund(
            bought.purchase.transactionID, environment: "Production", notification: .never)
        let problem = try expectations.expectRefusal("answer", 409, "TRANSACTION_ALREADY_REVOKED") {
            () throws(BackendError) in _ = try app.verify(newer.signedTransactionInfo, orderNumber: nil)
        }
        expectations.expect("may it be finished", problem?.mayFinish ?? false, true)
        try expectBalance(danbing: 360, minutes: 210)
    }

    private func readTheBooks(_ first: Bought, _ second: Bought) throws {
        expectations.scene("11. The books")
        expectations.expect(
            "danbing, newest first", try ledger("DANBING"),
            [
                "OUT 60 = 360 APPLE_REFUND", "IN 60 = 420 APPLE_IAP", "IN 300 = 360 APPLE_IAP", "IN 60 = 60 APPLE_IAP",
            ])
        expectations.expect(
            "minutes, newest first", try ledger("TIME_MINUTES"),
            ["OUT 30 = 210 APP_USAGE", "IN 180 = 240 APPLE_IAP", "IN 60 = 60 APPLE_IAP"])
        let path = "/api/iap/transactions/"
        let revoked = try app.send("GET", path + first.purchase.transactionID)
        expectations.expect("the first transaction", revoked["status"]?.stringValue ?? "", "REVOKED")
        let granted = try app.send("GET", path + second.purchase.transactionID)
        expectations.expect("the second", granted["status"]?.stringValue ?? "", "GRANTED")
        expectations.expect("bought with order", granted["orderNo"]?.stringValue ?? "", second.order.number)
        expectations.expect("in environment", granted["environment"]?.stringValue ?? "", "PRODUCTION")
        try expectations.expectRefusal("Bert asks for it", 404, "TRANSACTION_NOT_FOUND") {
            () throws(BackendError) in _ = try other.send("GET", path + second.purchase.transactionID)
        }
    }

    /// All rows of an asset, read in pages of two so that the cursor is used.
    func ledger(_ asset: String, of user: String? = nil) throws -> [String] {
        var rows: [String] = []
        var cursor = ""
        repeat {
            let path = "/api/wallet/ledger?asset=\(asset)&limit=2\(cursor)"
            let page = try user == bert ? other.send("GET", path) : app.send("GET", path)
            rows += try page.readEach("entries") { (row) throws(JSONError) in
                "\(try row.string("direction")) \(try row.int64("amount")) = \(try row.int64("balanceAfter"))"
                    + " \(try row.string("sourceType"))"
            }
            cursor = page["nextCursor"]?.stringValue.map { "&cursor=" + $0 } ?? ""
        } while !cursor.isEmpty && rows.count < 100
        return rows
    }
}
