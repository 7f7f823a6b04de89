import Messages

/// What all wallets of an app add up to, gathered page by page.
struct DayBooks: Equatable {
    let app: AppID
    /// Sums by asset.
    private(set) var totals: [AssetID: BooksTotal] = [:]
    /// Customers with the most flags, at most ``mostRisks``.
    private(set) var risks: [BooksRisk] = []
    /// Accounts that do not agree.
    private(set) var differences = 0

    /// A list that is longer nobody reads.
    static let mostRisks = 20

    init(app: AppID) { self.app = app }

    /// Adds a page. A sum that is larger than any number stays at the largest one.
    mutating func add(_ page: BooksPageAnswered) {
        for total in page.totals where total.app == app {
            var sum = totals[total.asset] ?? BooksTotal(app: app, asset: total.asset, accounts: 0, balance: 0, owed: 0)
            sum.accounts = Self.sum(sum.accounts, total.accounts)
            sum.balance = Self.sum(sum.balance, total.balance)
            sum.owed = Self.sum(sum.owed, total.owed)
            totals[total.asset] = sum
        }
        differences += page.differences.filter { $0.app == app }.count
        risks = Array(
            (risks + page.risks.filter { $0.app == app })
                .sorted { ($1.flags, $1.lastAt, $0.customer.rawValue) < ($0.flags, $0.lastAt, $1.customer.rawValue) }
                .prefix(Self.mostRisks))
    }

    private static func sum(_ first: Int64, _ second: Int64) -> Int64 {
        let (sum, overflows) = first.addingReportingOverflow(second)
        return overflows ? (second < 0 ? .min : .max) : sum
    }
}
