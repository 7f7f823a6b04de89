import JSON
import Messages

/// `GET /api/iap/entitlements`.
enum EntitlementJSON {
    /// What a user may use, ended ones included. Of the two environments each has its own entry.
    static func body(_ answer: EntitlementsAnswered) -> JSONObject {
        ["entitlements": .array(answer.entitlements.map { .object(entry($0)) })]
    }

    private static func entry(_ state: EntitlementState) -> JSONObject {
        var object: JSONObject = [
            "id": .string(state.name), "active": .bool(state.isActive), "status": .string(state.status.rawValue),
            "environment": .string(state.environment.rawValue.uppercased()),
            "appleProductId": .string(state.productID.rawValue),
        ]
        if let until = state.until { object.set("until", .string(RFC3339.format(until))) }
        if let willRenew = state.willRenew { object.set("willRenew", .bool(willRenew)) }
        if let product = state.renewsAs { object.set("renewsAs", .string(product.rawValue)) }
        if let reason = state.expirationIntent { object.set("expirationReason", .integer(reason)) }
        return object
    }
}
