import Crypto
import JSON

/// The query of Get Transaction History, checked as Apple checks it.
struct HistoryFilter {
    private static let types = [
        "AUTO_RENEWABLE": "Auto-Renewable Subscription", "NON_RENEWABLE": "Non-Renewing Subscription",
        "CONSUMABLE": "Consumable", "NON_CONSUMABLE": "Non-Consumable",
    ]

    private var startDate = Int64.min
    private var endDate = Int64.max
    private var products: Set<String> = []
    private var productTypes: Set<String> = []
    private var groups: Set<String> = []
    private var ownership: String?
    private var isRevoked: Bool?
    private(set) var isDescending = false
    /// The newest page's end, or nil for the first page.
    private(set) var revision: String?
    /// Names the query without its revision: the same must be asked for every page.
    let fingerprint: String

    init(_ query: [(name: String, value: String)]) throws(ServerAPIRefusal) {
        for (name, value) in query {
            switch name {
            case "revision": revision = value
            case "startDate": startDate = try Self.date(value, ServerAPIRefusal(4_000_015, "Invalid start date."))
            case "endDate": endDate = try Self.date(value, ServerAPIRefusal(4_000_016, "Invalid end date."))
            case "productId": products.insert(value)
            case "productType":
                guard let type = Self.types[value] else { throw ServerAPIRefusal(4_000_022, "Invalid product type.") }
                productTypes.insert(type)
            case "subscriptionGroupIdentifier": groups.insert(value)
            case "inAppOwnershipType":
                guard ["PURCHASED", "FAMILY_SHARED"].contains(value) else {
                    throw ServerAPIRefusal(4_000_026, "Invalid in-app ownership type.")
                }
                ownership = value
            case "revoked":
                guard ["true", "false"].contains(value) else { throw ServerAPIRefusal(4_000_030, "Invalid revoked.") }
                isRevoked = value == "true"
            case "sort":
                guard ["ASCENDING", "DESCENDING"].contains(value) else {
                    throw ServerAPIRefusal(4_000_021, "Invalid sort.")
                }
                isDescending = value == "DESCENDING"
            default: break
            }
        }
        guard startDate <= endDate else { throw ServerAPIRefusal(4_000_013, "Start date is after end date.") }
        let rest = query.filter { $0.name != "revision" }.map { "\($0.name)=\($0.value)" }.sorted()
        fingerprint = Hex.encode(Array(SHA256.hash(Array(rest.joined(separator: "&").utf8)).prefix(6)))
    }

    /// Whether a transaction belongs to the answer.
    func accepts(_ record: StoreRecord) -> Bool {
        let payload = record.payload
        let date = payload["purchaseDate"]?.intValue ?? 0
        func isAmong(_ wanted: Set<String>, _ key: String) -> Bool {
            wanted.isEmpty || payload[key]?.stringValue.map { wanted.contains($0) } ?? false
        }
        return date >= startDate && date < endDate && isAmong(products, "productId") && isAmong(productTypes, "type")
            && isAmong(groups, "subscriptionGroupIdentifier")
            && (ownership == nil || payload["inAppOwnershipType"]?.stringValue == ownership)
            && (isRevoked == nil || (payload["revocationDate"] != nil) == isRevoked)
    }

    private static func date(_ text: String, _ refusal: ServerAPIRefusal) throws(ServerAPIRefusal) -> Int64 {
        guard let date = Int64(text), date >= 0 else { throw refusal }
        return date
    }
}
