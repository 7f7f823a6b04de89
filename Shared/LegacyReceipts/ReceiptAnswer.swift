public import AppStore
import JSON

/// What Apple's `verifyReceipt` answers, read strictly; nothing is judged here.
///
/// Source: developer.apple.com/documentation/appstorereceipts/responsebody.
public struct ReceiptAnswer: Sendable, Equatable {
    /// Bytes of an answer at most: Apple repeats the whole history of subscriptions in it.
    public static let maximumBytes = 4 << 20

    /// Apple's number; 0 means that the receipt is genuine.
    public let status: Int64
    /// Whether Apple says of itself that asking again may help.
    public let isRetryable: Bool
    /// `Production` or `Sandbox`, as Apple says it.
    public let environment: String?
    private let receipt: JSONObject?

    /// Reads an answer: strict JSON with a number named `status`.
    public init(_ body: [UInt8]) throws(VerificationFailure) {
        do {
            // A receipt may hold thousands of purchases, each of some twenty members, and subscriptions twice.
            let limits = JSONLimits(maximumBytes: Self.maximumBytes, maximumValues: 200_000)
            let object = try JSONReader.parseObject(body, limits: limits)
            status = try object.int64("status")
            environment = try object.optionalString("environment")
            receipt = try object.optionalObject("receipt")
            // Apple's documentation shows a Boolean, its answers have had 0 and 1.
            isRetryable = object["is-retryable"]?.boolValue ?? (object["is-retryable"]?.intValue == 1)
        } catch {
            throw VerificationFailure(.format, .format, "Apple's answer cannot be read: \(error)")
        }
    }

    /// The receipt in Apple's words.
    public func appReceipt() throws(VerificationFailure) -> AppReceipt {
        guard let receipt else { throw .field("receipt", "is missing") }
        return try AppReceipt(AnswerFields(receipt, owner: ""))
    }
}

/// Members of an answer. Numbers and truth values are texts in it, but for some.
struct AnswerFields {
    private let object: JSONObject
    private let owner: String

    init(_ object: JSONObject, owner: String) {
        self.object = object
        self.owner = owner
    }

    /// A text; nil if it is absent, null or empty.
    func text(_ name: String) throws(VerificationFailure) -> String? {
        guard let value = object[name], !value.isNull else { return nil }
        guard let text = value.stringValue, text.utf8.count <= ReceiptAttributes.longestText,
            text.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7F })
        else { throw failure(name, "is not acceptable text") }
        return text.isEmpty ? nil : text
    }

    /// 1 to 20 digits.
    func identifier(_ name: String) throws(VerificationFailure) -> String? {
        if let number = object[name]?.intValue, number >= 0 { return String(number) }
        guard let text = try text(name) else { return nil }
        guard ReceiptAttributes.isIdentifier(text) else { throw failure(name, "is not 1 to 20 digits") }
        return text
    }

    /// An integer of 64 bits, as a number or as its digits.
    func integer(_ name: String) throws(VerificationFailure) -> Int64? {
        if let number = object[name]?.intValue { return number }
        guard let text = try text(name) else { return nil }
        // Int64 would also read "+1".
        guard let value = Int64(text), text.first != "+" else { throw failure(name, "is no integer of 64 bits") }
        return value
    }

    /// Milliseconds since 1970, from the member with `_ms` behind its name.
    func date(_ name: String) throws(VerificationFailure) -> Int64? {
        guard let value = try integer(name + "_ms") else { return nil }
        // As in receipts, whose years have four digits.
        guard (0...253_402_300_799_999).contains(value) else { throw failure(name + "_ms", "is no date") }
        return value
    }

    /// `true` or `false`, as such or as text; false if it is absent.
    func bool(_ name: String) throws(VerificationFailure) -> Bool {
        if let value = object[name]?.boolValue { return value }
        switch try text(name) {
        case nil, "false": return false
        case "true": return true
        default: throw failure(name, "is neither true nor false")
        }
    }

    /// Objects in a list; an absent list is empty.
    func objects(_ name: String) throws(VerificationFailure) -> [AnswerFields] {
        guard let value = object[name], !value.isNull else { return [] }
        guard let array = value.arrayValue else { throw failure(name, "is no list") }
        var fields: [AnswerFields] = []
        fields.reserveCapacity(array.count)
        for (place, element) in array.enumerated() {
            guard let object = element.objectValue else { throw failure(name, "holds something else than objects") }
            fields.append(AnswerFields(object, owner: "\(owner)\(name)[\(place)]."))
        }
        return fields
    }

    /// What must be there.
    func required<Value>(_ value: Value?, _ name: String) throws(VerificationFailure) -> Value {
        guard let value else { throw failure(name, "is missing") }
        return value
    }

    /// A field that is not acceptable.
    func failure(_ name: String, _ problem: String) -> VerificationFailure { .field("\(owner)\(name)", problem) }
}

extension AppReceipt {
    /// Reads `receipt` of an answer.
    init(_ fields: AnswerFields) throws(VerificationFailure) {
        receiptType = try fields.required(fields.text("receipt_type"), "receipt_type")
        appItemID = try fields.integer("app_item_id")
        bundleID = try fields.required(fields.text("bundle_id"), "bundle_id")
        applicationVersion = try fields.text("application_version")
        opaqueValue = nil
        sha1Hash = nil
        creationDate = try fields.required(fields.date("receipt_creation_date"), "receipt_creation_date_ms")
        downloadID = try fields.integer("download_id")
        versionExternalIdentifier = try fields.integer("version_external_identifier")
        originalPurchaseDate = try fields.date("original_purchase_date")
        originalApplicationVersion = try fields.text("original_application_version")
        expirationDate = try fields.date("expiration_date")
        preorderDate = try fields.date("preorder_date")
        var purchases: [InAppPurchase] = []
        for entry in try fields.objects("in_app") { purchases.append(try InAppPurchase(entry)) }
        self.purchases = purchases
        unknownAttributes = []
    }
}

extension InAppPurchase {
    /// Reads an element of `in_app`.
    init(_ fields: AnswerFields) throws(VerificationFailure) {
        let quantity = try fields.integer("quantity") ?? 1
        guard Self.quantities.contains(quantity) else { throw fields.failure("quantity", "is \(quantity)") }
        self.quantity = quantity
        productID = try fields.required(fields.text("product_id"), "product_id")
        transactionID = try fields.required(fields.identifier("transaction_id"), "transaction_id")
        originalTransactionID = try fields.identifier("original_transaction_id") ?? transactionID
        purchaseDate = try fields.required(fields.date("purchase_date"), "purchase_date_ms")
        originalPurchaseDate = try fields.date("original_purchase_date")
        expiresDate = try fields.date("expires_date")
        webOrderLineItemID = try fields.integer("web_order_line_item_id")
        cancellationDate = try fields.date("cancellation_date")
        cancellationReason = try fields.integer("cancellation_reason")
        isTrialPeriod = try fields.bool("is_trial_period")
        isInIntroOfferPeriod = try fields.bool("is_in_intro_offer_period")
        unknownAttributes = []
    }
}
