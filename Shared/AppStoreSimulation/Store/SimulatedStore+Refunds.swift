public import JSON

/// Money that goes back, and what is asked and told about it.
extension SimulatedStore {
    /// Apple's unit of shares: a thousandth of a per cent.
    static let wholeShare: Int64 = 100_000

    /// Refunds a share in per cent (100 = all of it), or takes the refund back (0); a newer statement is signed.
    public mutating func refund(
        _ transactionID: String, environment: String, percentage: Int64 = 100,
        notification plan: DeliveryPlan = DeliveryPlan()
    ) throws(StoreError) -> SignedPurchase {
        guard (0...100).contains(percentage) else {
            throw .invalid(field: "percentage", problem: "must be a whole number from 0 to 100")
        }
        return try refund(transactionID, environment: environment, milliunits: percentage * 1_000, notification: plan)
    }

    /// The same by Apple's unit, 0…100,000, with Apple's reason (0 other, 1 an issue in the app). Tells REFUND, or
    /// REFUND_REVERSED.
    public mutating func refund(
        _ transactionID: String, environment: String, milliunits: Int64, reason: Int64 = 0,
        notification plan: DeliveryPlan = DeliveryPlan()
    ) throws(StoreError) -> SignedPurchase {
        guard (0...Self.wholeShare).contains(milliunits) else {
            throw .invalid(field: "milliunits", problem: "must be from 0 to 100000")
        }
        guard (0...1).contains(reason) else { throw .invalid(field: "reason", problem: "must be 0 or 1") }
        var revocation: JSONObject = [:]
        if milliunits > 0 {
            revocation = [
                "revocationReason": .integer(reason),
                "revocationType": milliunits == Self.wholeShare ? "REFUND_FULL" : "REFUND_PRORATED",
                "revocationPercentage": .integer(milliunits),
            ]
        }
        let record = try restate(transactionID, environment, revocation: revocation)
        try notify(milliunits > 0 ? "REFUND" : "REFUND_REVERSED", about: record, plan)
        return try signed(record)
    }

    /// Apple refuses a refund that was asked for: nothing changes. Tells REFUND_DECLINED.
    public mutating func declineRefund(
        _ transactionID: String, environment: String, notification plan: DeliveryPlan = DeliveryPlan()
    ) throws(StoreError) -> SignedPurchase {
        let record = try restate(transactionID, environment, revocation: nil)
        try notify("REFUND_DECLINED", about: record, plan)
        return try signed(record)
    }

    /// The customer asks for a refund, and Apple asks the app's server how much was used. Tells CONSUMPTION_REQUEST.
    public mutating func requestConsumption(
        _ transactionID: String, environment: String, reason: String = "UNINTENDED_PURCHASE",
        notification plan: DeliveryPlan = DeliveryPlan()
    ) throws(StoreError) -> SignedPurchase {
        let record = try restate(transactionID, environment, revocation: nil)
        try notify("CONSUMPTION_REQUEST", about: record, plan) { $0.consumptionRequestReason = reason }
        return try signed(record)
    }

    /// Family Sharing of this transaction ends. Tells REVOKE.
    public mutating func revoke(
        _ transactionID: String, environment: String, notification plan: DeliveryPlan = DeliveryPlan()
    ) throws(StoreError) -> SignedPurchase {
        let record = try restate(transactionID, environment, revocation: ["revocationType": "FAMILY_REVOKE"])
        if var subscription = books.subscription(originalID(of: record), environment) {
            subscription.status = .revoked
            try books.save(subscription)
        }
        try notify("REVOKE", about: record, plan)
        return try signed(record)
    }

    /// What the app's server told about the use of a transaction, oldest first.
    public func consumption(of transactionID: String, environment: String) throws(StoreError) -> [JSONObject] {
        guard let record = books.record(transactionID, environment) else { throw .unknownTransaction }
        return record.consumption
    }

    /// The first transaction of a chain.
    func originalID(of record: StoreRecord) -> String {
        record.payload["originalTransactionId"]?.stringValue ?? record.transactionID
    }

    /// A newer statement: with another revocation, without one (empty), or with the same (nil).
    private mutating func restate(
        _ transactionID: String, _ environment: String, revocation: JSONObject?
    ) throws(StoreError) -> StoreRecord {
        guard var record = books.record(transactionID, environment) else { throw .unknownTransaction }
        let date = nextDate(after: record.payload["signedDate"]?.intValue ?? 0)
        if let revocation {
            let fields = ["revocationDate", "revocationReason", "revocationType", "revocationPercentage"]
            record.payload = JSONObject(record.payload.members.filter { !fields.contains($0.key) })
            for (key, value) in revocation.members { record.payload.set(key, value) }
            if !revocation.isEmpty { record.payload.set("revocationDate", .integer(date)) }
        }
        record.payload.set("signedDate", .integer(date))
        try books.save(record)
        return record
    }
}
