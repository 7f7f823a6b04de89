import AppStore
import AppStoreSimulation
import JSON
import LegacyReceipts
import Testing

/// What `verifyReceipt` answers, read.
@Suite struct ReceiptAnswerTests {
    private static let receipt: SimulatedReceipt = {
        var receipt = World.receipt(World.purchase("1"), World.purchase("2"))
        receipt.purchases[1].quantity = 7
        receipt.purchases[1].cancellationDate = World.now - 5_000
        receipt.purchases[0].expiresDate = World.now + 5_000
        return receipt
    }()

    private static func read(_ object: JSONObject) throws -> AppReceipt {
        try ReceiptAnswer(JSONWriter.write(object)).appReceipt()
    }

    /// The answer about ``receipt`` with one member of its receipt, or of its first purchase, replaced.
    private static func answer(receipt name: String? = nil, purchase: String? = nil, _ value: JSONValue?) -> JSONObject
    {
        var object = receipt.answer
        var inner = object["receipt"]?.objectValue ?? [:]
        func changed(_ object: JSONObject, _ key: String) -> JSONObject {
            var members = object.members.filter { $0.key != key }
            if let value { members.append((key, value)) }
            return JSONObject(members)
        }
        if let name { inner = changed(inner, name) }
        if let purchase, var list = inner["in_app"]?.arrayValue, let first = list.first?.objectValue {
            list[0] = .object(changed(first, purchase))
            inner.set("in_app", .array(list))
        }
        object.set("receipt", .object(inner))
        return object
    }

    /// What decides about a purchase.
    private static func words(_ purchase: InAppPurchase) -> String {
        let dates = [
            purchase.purchaseDate, purchase.originalPurchaseDate, purchase.expiresDate, purchase.cancellationDate,
        ]
        let ids = [purchase.transactionID, purchase.originalTransactionID, purchase.productID]
        return "\(ids) \(purchase.quantity) \(dates) \(purchase.isTrialPeriod) \(purchase.isInIntroOfferPeriod)"
    }

    @Test func `a receipt says the same in Apple's answer as in its own bytes (C-056 C-059 C-060)`() throws {
        let world = try World()
        let here = try world.verifier.verify(try world.signer.sign(Self.receipt), now: World.now).receipt
        let told = try Self.read(Self.receipt.answer)
        #expect(told.purchases.map(Self.words) == here.purchases.map(Self.words))
        #expect(told.bundleID == here.bundleID && told.receiptType == here.receiptType)
        #expect(told.creationDate == here.creationDate && told.environment == here.environment)
        #expect(told.purchases.map(\.quantity) == [1, 7] && told.purchases[1].cancellationDate == World.now - 5_000)
    }

    @Test(
        arguments: [
            ("in_app", .array([.string("x")]), false), ("in_app", "x", false), ("in_app", nil, true),
            ("bundle_id", nil, false), ("bundle_id", "", false), ("bundle_id", 1, false),
            ("bundle_id", "a\u{0}b", false),
            ("receipt_type", nil, false), ("receipt_creation_date_ms", nil, false),
            ("receipt_creation_date_ms", "1e3", false), ("receipt_creation_date_ms", "-1", false),
            ("receipt_creation_date_ms", "9223372036854775808", false), ("receipt_creation_date_ms", 1, true),
        ] as [(String, JSONValue?, Bool)])
    func `members of the receipt are read strictly`(name: String, value: JSONValue?, isRead: Bool) throws {
        #expect(((try? Self.read(Self.answer(receipt: name, value))) != nil) == isRead)
    }

    @Test(
        arguments: [
            ("quantity", "0", false), ("quantity", "101", false), ("quantity", "1.0", false), ("quantity", "+1", false),
            ("quantity", 3, true), ("quantity", nil, true), ("quantity", "", true), ("quantity", .array([]), false),
            ("transaction_id", "", false), ("transaction_id", "12a", false), ("transaction_id", nil, false),
            ("transaction_id", "123456789012345678901", false), ("transaction_id", 12, true),
            ("product_id", nil, false), ("purchase_date_ms", nil, false), ("purchase_date_ms", "soon", false),
            ("purchase_date_ms", "253402300800000", false), ("is_trial_period", "perhaps", false),
            ("is_trial_period", true, true), ("cancellation_reason", "x", false),
            ("web_order_line_item_id", "9223372036854775807", true),
        ] as [(String, JSONValue?, Bool)])
    func `members of a purchase are read strictly (C-059)`(name: String, value: JSONValue?, isRead: Bool) throws {
        #expect(((try? Self.read(Self.answer(purchase: name, value))) != nil) == isRead)
    }

    @Test func `only strict JSON with a number named status is an answer at all`() throws {
        for text in [
            "", "[]", "null", "<html>", "{}", #"{"status":"0"}"#, #"{"status":0.5}"#, #"{"status":0,"status":0}"#,
            #"{"status":0} x"#, #"{"status":0,"environment":1}"#, #"{"status":0,"receipt":[]}"#,
        ] {
            let failure = #expect(throws: VerificationFailure.self, "\(text)") {
                _ = try ReceiptAnswer(Array(text.utf8))
            }
            #expect(failure?.reason == .format)
        }
        #expect(try ReceiptAnswer(Array(#"{"status":21100,"is-retryable":1}"#.utf8)).isRetryable)
        #expect(throws: VerificationFailure.self) { try ReceiptAnswer(Array(#"{"status":0}"#.utf8)).appReceipt() }
    }

    @Test func `app, environment and dates of an answer are judged as a receipt's own (C-055 C-057)`() throws {
        let world = try World()
        func refusal(
            _ receipt: SimulatedReceipt, environment: String? = "Sandbox", verifier: ReceiptVerifier? = nil
        ) throws -> VerificationFailure.Reason? {
            let told = try Self.read(receipt.answer)
            do throws(VerificationFailure) {
                _ = try (verifier ?? world.verifier).verify(
                    answered: told, environment: environment, about: [1], now: World.now)
                return nil
            } catch {
                return error.reason
            }
        }
        #expect(try refusal(Self.receipt) == nil)
        #expect(try refusal(Self.receipt, environment: "Production") == .environmentMismatch)
        #expect(try refusal(Self.receipt, environment: nil) == .environmentMismatch)
        var other = Self.receipt
        other.bundleID = "com.example.stranger"
        #expect(try refusal(other) == .appMismatch)
        other = Self.receipt
        other.receiptType = "Xcode"
        #expect(try refusal(other, environment: "Xcode") == .environmentMismatch, "never, whatever is said beside it")
        other = Self.receipt
        other.creationDate = World.now + 3_600_000
        #expect(try refusal(other) == .signedDateInFuture)
        other.creationDate = 0
        #expect(try refusal(other) == .payloadField)
        other = Self.receipt
        other.receiptType = "Production"
        other.appItemID = 99
        #expect(try refusal(other, environment: "Production") == .appMismatch, "Apple's number of another app")
        let production = try ReceiptVerifier(
            apps: [AcceptedApp(id: "game", bundleIDs: [World.bundleID], environments: [.production])],
            roots: [world.authority.root])
        #expect(try refusal(Self.receipt, verifier: production) == .environmentMismatch)
    }
}
