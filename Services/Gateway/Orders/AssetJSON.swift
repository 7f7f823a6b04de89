import JSON
import Messages

/// How the `orders` surface writes amounts and balances.
enum AssetJSON {
    /// Every asset of the app by its JSON name, 0 when never held. A balance in an asset that only the catalogue knows
    /// is shown under its id: money is never hidden.
    static func balances(_ balances: [AssetAmount], of app: ServedApp) -> JSONObject {
        var object = JSONObject()
        for asset in app.assets { object.set(asset.jsonName, 0) }
        for balance in balances {
            let name = app.assets.first { $0.id == balance.asset }?.jsonName ?? balance.asset.rawValue
            object.set(name, .integer(balance.amount))
        }
        return object
    }

    /// Adds what a product grants: `assetType` and `grantAmount` of the first asset, and all of them as `grants` unless
    /// there is exactly one.
    static func add(_ amounts: [AssetAmount], to object: inout JSONObject) {
        if let first = amounts.first {
            object.set("assetType", .string(first.asset.rawValue))
            object.set("grantAmount", .integer(first.amount))
        }
        guard amounts.count != 1 else { return }
        object.set(
            "grants",
            .array(
                amounts.map {
                    ["assetType": .string($0.asset.rawValue), "grantAmount": .integer($0.amount)]
                }))
    }

    /// Adds `revokedPercent` when a share was taken back. `share` is in milliunits of per cent.
    static func add(revokedShare share: Int64, to object: inout JSONObject) {
        guard share > 0 else { return }
        if share % 1_000 == 0 {
            object.set("revokedPercent", .integer(share / 1_000))
        } else if let percent = JSONNumber(Double(share) / 1_000) {
            object.set("revokedPercent", .number(percent))
        }
    }
}
