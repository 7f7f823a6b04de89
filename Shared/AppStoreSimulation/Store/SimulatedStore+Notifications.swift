import Crypto
public import JSON

/// What apps' servers are told.
extension SimulatedStore {
    /// Tells about a transaction, with the renewal info of its subscription if it belongs to one. Nothing is told to an
    /// app without an address.
    ///
    /// - Parameter bundleID: the app, where the transaction itself may name another.
    mutating func notify(
        _ type: String, _ subtype: String? = nil, about record: StoreRecord, of bundleID: String? = nil,
        _ plan: DeliveryPlan, change: (inout SimulatedNotification) -> Void = { _ in }
    ) throws(StoreError) {
        let bundleID = bundleID ?? record.payload["bundleId"]?.stringValue ?? ""
        guard isTold(bundleID, record.environment) else { return }
        let original = originalID(of: record)
        let subscription = books.subscription(original, record.environment)
        let signedTransaction = try signed(record).signedTransactionInfo
        let renewal: String? =
            if let subscription { try sign(subscription.renewalInfo(signedDate: nextDate(after: 0))) } else { nil }
        try tell(
            type, subtype, of: bundleID, record.environment, about: (record.transactionID, original), plan
        ) { notification in
            notification.signedTransactionInfo = signedTransaction
            notification.signedRenewalInfo = renewal
            notification.status = subscription?.status.rawValue
            change(&notification)
        }
    }

    /// Any notification, also of a type Apple has yet to invent: `POST /simulator/notifications`.
    ///
    /// `fields` replace top-level members of its payload, null takes one away. Types that have no `data` get what they
    /// have instead.
    /// - Returns: its UUIDs.
    public mutating func tell(
        _ type: String, _ subtype: String?, bundleID: String, environment: String, transactionID: String?,
        fields: JSONObject, _ plan: DeliveryPlan
    ) throws(StoreError) -> [String] {
        var fields = fields
        let app = apps?[bundleID]
        for (key, value) in try substitutes(type, subtype, app, bundleID, environment).members where fields[key] == nil
        {
            fields.set(key, value)
        }
        var about: (String, String)?
        var signedTransaction: String?
        if let transactionID {
            guard let record = books.record(transactionID, environment) else { throw .unknownTransaction }
            about = (transactionID, originalID(of: record))
            signedTransaction = try signed(record).signedTransactionInfo
        }
        return try tell(type, subtype, of: bundleID, environment, about: about, plan) { notification in
            notification.signedTransactionInfo = signedTransaction
            notification.overrides = fields
        }
    }

    /// Whether the app has an address for it.
    func isTold(_ bundleID: String, _ environment: String) -> Bool {
        outbox != nil && apps?[bundleID]?.address(environment: environment) != nil
    }

    /// Signs one notification, and as many more under new UUIDs as are planned, and hands them to the outbox.
    @discardableResult
    mutating func tell(
        _ type: String, _ subtype: String?, of bundleID: String, _ environment: String,
        about transaction: (id: String, original: String)?, _ plan: DeliveryPlan,
        change: (inout SimulatedNotification) -> Void
    ) throws(StoreError) -> [String] {
        guard let outbox, let app = apps?[bundleID], isTold(bundleID, environment), !plan.isLost else { return [] }
        var uuids: [String] = []
        for _ in 0...plan.retold {
            let uuid = try randomUUID()
            let date = nextDate(after: 0)
            var notification = SimulatedNotification(
                type: type, subtype: subtype, uuid: uuid, bundleID: bundleID,
                // Absent in the Sandbox (observed by many).
                appAppleID: environment == "Production" ? app.appAppleID : nil, environment: environment,
                signedDate: date)
            change(&notification)
            let hold = plan.isOutOfOrder ? NotificationOutbox.longestHold : 0
            try outbox.add(
                SentNotification(
                    uuid: uuid, type: type, subtype: subtype, bundleID: bundleID, environment: environment,
                    transactionID: transaction?.id, originalTransactionID: transaction?.original, signedDate: date,
                    signedPayload: try sign(notification.json), duplicates: plan.isNever ? 0 : plan.duplicates,
                    dueAt: plan.isNever ? nil : WallClock.milliseconds() + plan.delay + hold,
                    isHeldBack: plan.isOutOfOrder))
            uuids.append(uuid)
        }
        return uuids
    }

    /// What stands in the place of `data` in types that have none (ResponseBodyV2DecodedPayload).
    private mutating func substitutes(
        _ type: String, _ subtype: String?, _ app: SimulatedApp?, _ bundleID: String, _ environment: String
    ) throws(StoreError) -> JSONObject {
        let id = JSONValue.integer(app?.appAppleID ?? 0)
        switch (type, subtype) {
        case ("RENEWAL_EXTENSION", "SUMMARY"):
            return [
                "data": .null,
                "summary": [
                    "requestIdentifier": .string(try randomUUID()), "environment": .string(environment),
                    "appAppleId": id, "bundleId": .string(bundleID), "productId": "vip.monthly",
                    "storefrontCountryCodes": ["USA"], "failedCount": 0, "succeededCount": 1,
                ],
            ]
        case ("EXTERNAL_PURCHASE_TOKEN", _):
            return [
                "data": .null,
                "externalPurchaseToken": [
                    "externalPurchaseId": .string((environment == "Sandbox" ? "SANDBOX_" : "") + (try randomUUID())),
                    "tokenCreationDate": .integer(nextDate(after: 0)), "appAppleId": id,
                    "bundleId": .string(bundleID),
                ],
            ]
        case ("RESCIND_CONSENT", _):
            let date = nextDate(after: 0)
            let transaction: JSONObject = [
                "receiptType": .string(environment), "appAppleId": id, "bundleId": .string(bundleID),
                "applicationVersion": "1.0", "receiptCreationDate": .integer(date),
                "originalPurchaseDate": .integer(date), "originalApplicationVersion": "1.0",
                "appTransactionId": "704285395000000000",
            ]
            return [
                "data": .null,
                "appData": [
                    "appAppleId": id, "bundleId": .string(bundleID), "environment": .string(environment),
                    "signedAppTransactionInfo": .string(try sign(transaction)),
                ],
            ]
        default: return [:]
        }
    }

    /// Signs any object.
    func sign(_ object: JSONObject) throws(StoreError) -> String {
        do {
            return String(decoding: try signer.sign(object), as: UTF8.self)
        } catch {
            throw .signing
        }
    }

    /// A random UUID, version 4 (RFC 9562 §5.4), in lower case as Apple writes them.
    func randomUUID() throws(StoreError) -> String {
        var bytes: [UInt8]
        do {
            bytes = try RandomBytes.generate(16)
        } catch {
            throw .signing
        }
        bytes[6] = bytes[6] & 0x0f | 0x40
        bytes[8] = bytes[8] & 0x3f | 0x80
        let digits = Hex.encode(bytes)
        var groups: [Substring] = []
        var rest = digits[...]
        for length in [8, 4, 4, 4, 12] {
            groups.append(rest.prefix(length))
            rest = rest.dropFirst(length)
        }
        return groups.joined(separator: "-")
    }
}
