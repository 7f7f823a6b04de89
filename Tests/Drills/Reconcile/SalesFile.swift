/// A month's sales reports as App Store Connect writes them, one file.
enum SalesFile {
    private static let headings = [
        "Provider", "Provider Country", "SKU", "Developer", "Title", "Version", "Product Type Identifier", "Units",
        "Developer Proceeds", "Begin Date", "End Date", "Customer Currency", "Country Code", "Currency of Proceeds",
        "Apple Identifier", "Customer Price", "Promo Code", "Parent Identifier",
    ]

    /// Its text.
    static func text(_ rows: [MonthPlan.SalesRow], _ clock: MonthClock, bundleID: String) -> String {
        let lines = rows.map { row in
            let date = clock.reportDate(daysAgo: row.day)
            let country = MonthPlan.storefronts[row.storefront].1
            return [
                "APPLE", "US", row.product, "Purser", row.product, " ", "IA1", String(row.told ?? row.sold), "0.70",
                date, date, "USD", country, "USD", "1234567890", "0.99", " ", bundleID,
            ].joined(separator: "\t")
        }
        return ([headings.joined(separator: "\t")] + lines).joined(separator: "\n") + "\n"
    }

    /// The finding about a row.
    static func subject(_ row: MonthPlan.SalesRow, _ clock: MonthClock) -> String {
        let date = clock.date(daysAgo: row.day)
        return "cloudpc/\(date)/\(date)/\(row.product)/\(MonthPlan.storefronts[row.storefront].0)"
    }
}
