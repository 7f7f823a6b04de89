public import JSON

/// What apps' servers tell Apple about the use of a purchase; kept for whoever wants to see it.
extension SimulatedStore {
    /// Send Consumption Information (version 2).
    public mutating func takeConsumption(
        _ body: JSONObject, about id: String, of app: SimulatedApp, environment: String
    ) throws(ServerAPIRefusal) {
        var record = try found(id, app, environment)
        try Self.checkConsent(body)
        let statuses = [
            "DELIVERED", "UNDELIVERED_QUALITY_ISSUE", "UNDELIVERED_WRONG_ITEM", "UNDELIVERED_SERVER_OUTAGE",
            "UNDELIVERED_OTHER",
        ]
        guard let delivery = body["deliveryStatus"]?.stringValue, statuses.contains(delivery) else {
            throw ServerAPIRefusal(4_000_036, "Invalid delivery status.")
        }
        let preference = body["refundPreference"]
        if let preference, !preference.isNull {
            guard ["DECLINE", "GRANT_FULL", "GRANT_PRORATED"].contains(preference.stringValue) else {
                throw ServerAPIRefusal(4_000_044, "Invalid refund preference.")
            }
        }
        let share = body["consumptionPercentage"]?.intValue
        if let share {
            guard record.payload["type"] != "Auto-Renewable Subscription" else {
                throw ServerAPIRefusal(4_000_209, "The consumption percentage is not for subscriptions.")
            }
            // Apple documents these rules without their numbers.
            guard (0...Self.wholeShare).contains(share), delivery == "DELIVERED" || share == 0 else {
                throw ServerAPIRefusal(4_000_000, "Bad request.")
            }
        }
        if preference == "GRANT_PRORATED" {
            guard let share, share > 0, share < Self.wholeShare else {
                throw ServerAPIRefusal(4_000_000, "Bad request.")
            }
        }
        record.consumption.append(body)
        try keep(record)
    }

    /// Send Consumption Information (version 1): numbers, all of them demanded.
    public mutating func takeConsumptionV1(
        _ body: JSONObject, about id: String, of app: SimulatedApp, environment: String
    ) throws(ServerAPIRefusal) {
        var record = try found(id, app, environment)
        guard record.payload["type"] == "Consumable" || record.payload["type"] == "Auto-Renewable Subscription" else {
            throw ServerAPIRefusal(4_000_047, "Invalid transaction type.")
        }
        try Self.checkConsent(body)
        guard body["appAccountToken"]?.stringValue != nil else {
            throw ServerAPIRefusal(4_000_033, "Invalid app account token.")
        }
        let ranges: [(String, ClosedRange<Int64>, Int64)] = [
            ("accountTenure", 0...7, 4_000_032), ("consumptionStatus", 0...3, 4_000_034),
            ("deliveryStatus", 0...5, 4_000_036), ("lifetimeDollarsPurchased", 0...7, 4_000_037),
            ("lifetimeDollarsRefunded", 0...7, 4_000_038), ("platform", 0...2, 4_000_039),
            ("playTime", 0...7, 4_000_040), ("userStatus", 0...4, 4_000_042), ("refundPreference", 0...3, 4_000_044),
        ]
        for (name, range, code) in ranges {
            guard let value = body[name]?.intValue, range.contains(value) else {
                throw ServerAPIRefusal(code, "Invalid \(name).")
            }
        }
        record.consumption.append(body)
        try keep(record)
    }

    private static func checkConsent(_ body: JSONObject) throws(ServerAPIRefusal) {
        guard body["customerConsented"] == true else {
            throw ServerAPIRefusal(4_000_035, "Invalid customer consented.")
        }
        guard body["sampleContentProvided"]?.boolValue != nil else {
            throw ServerAPIRefusal(4_000_041, "Invalid sample content provided.")
        }
    }

    private mutating func keep(_ record: StoreRecord) throws(ServerAPIRefusal) {
        do {
            try books.save(record)
        } catch {
            throw .internalError
        }
    }
}
