import Messages
import Service

/// When a sales report and the purchases are said to differ.
struct SalesTolerance: Sendable, Equatable {
    /// Apple's calendar: an IANA name.
    var timeZone: String
    /// Purchases so close to a border of the days may be counted on either side (ms).
    var border: Int64
    /// Units of a product in a storefront that may differ besides.
    var units: Int64
    /// What Apple keeps in a storefront, in thousandths of a per cent.
    var commissions: [Place: Int64]
    /// How much it may be away from that, in thousandths of a per cent.
    static let commissionSlack: Int64 = 1_000

    /// An app in a storefront.
    struct Place: Hashable, Sendable {
        let app: AppID
        let storefront: String
    }

    /// Reads the settings.
    init(_ reader: inout SettingsReader) {
        timeZone = reader.text(
            "SALES_TIME_ZONE", default: "America/Los_Angeles",
            meaning: "the time zone of the days of Apple's sales reports")
        border =
            1_000
            * Int64(
                reader.integer(
                    "SALES_BORDER_SECONDS", default: 300, in: 0...43_200,
                    meaning: "purchases so close to a border of Apple's days may be counted on either side"))
        units = Int64(
            reader.integer(
                "SALES_TOLERANCE_UNITS", default: 0, in: 0...1_000_000,
                meaning: "units of a product in a storefront by which a sales report may differ"))
        let text = reader.text(
            "SALES_COMMISSIONS", default: "none",
            meaning: "what Apple keeps: app/STOREFRONT=per cent, separated by commas; only these are checked")
        commissions = Self.commissions(text) ?? [:]
        if Self.commissions(text) == nil {
            reader.problem(
                "SALES_COMMISSIONS", "must look like game/USA=15,game/CAN=30 (per cent, three decimals at most)")
        }
    }

    init(timeZone: String, border: Int64, units: Int64, commissions: [Place: Int64]) {
        self.timeZone = timeZone
        self.border = border
        self.units = units
        self.commissions = commissions
    }

    /// `none`, or a list; nil if it is neither, or names a place twice.
    static func commissions(_ text: String) -> [Place: Int64]? {
        if text == "none" { return [:] }
        var found: [Place: Int64] = [:]
        for entry in text.split(separator: ",") {
            let parts = entry.filter { $0 != " " }.split(separator: "=", omittingEmptySubsequences: false)
            guard parts.count == 2, let slash = parts[0].lastIndex(of: "/"), let percent = thousandths(parts[1]) else {
                return nil
            }
            let (app, storefront) = (parts[0][..<slash], parts[0][parts[0].index(after: slash)...])
            let isCode = storefront.utf8.count == 3 && storefront.utf8.allSatisfy { (65...90).contains($0) }
            guard !app.isEmpty, isCode else { return nil }
            let place = Place(app: AppID(String(app)), storefront: String(storefront))
            guard found.updateValue(percent, forKey: place) == nil else { return nil }
        }
        return found
    }

    /// `15`, `15.5`, `27.125`: 0 to 100.
    private static func thousandths(_ text: Substring) -> Int64? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count),
            parts.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy { (48...57).contains($0) } }),
            parts[0].utf8.count <= 3, parts.count == 1 || parts[1].utf8.count <= 3
        else { return nil }
        let decimals = parts.count == 2 ? String(parts[1]) : ""
        let padded = decimals + String(repeating: "0", count: 3 - decimals.utf8.count)
        guard let whole = Int64(parts[0]), let rest = Int64(padded) else { return nil }
        let sum = whole * 1_000 + rest
        return sum <= 100_000 ? sum : nil
    }
}
