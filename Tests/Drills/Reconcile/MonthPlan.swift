import TestSupport

/// A month of purchases by a seed, and what is to be broken of it. Pure: the same seed gives the same month.
struct MonthPlan: Sendable {
    /// Storefronts as purchases and as sales reports name them.
    static let storefronts = [
        ("USA", "US"), ("CHN", "CN"), ("JPN", "JP"), ("DEU", "DE"), ("FRA", "FR"), ("GBR", "GB"), ("KOR", "KR"),
        ("TWN", "TW"), ("CAN", "CA"), ("AUS", "AU"),
    ]
    /// Purchases of one user.
    private static let perUser = 10
    /// 09:00 to 21:00 UTC: the same date in UTC, by which days are compared, and in Los Angeles, by which Apple counts;
    /// more than the tolerance of minutes away from every midnight.
    private static let (opens, closes): (Int64, Int64) = (9 * 3_600, 21 * 3_600)

    /// One purchase.
    struct Purchase: Sendable, Equatable {
        /// Whose: a number.
        let user: Int
        let product: Goods
        /// Place in ``storefronts``.
        let storefront: Int
        /// How many days ago: 1 or more.
        let day: Int
        /// Seconds after midnight, UTC.
        let second: Int64
    }

    /// A row of a sales report.
    struct SalesRow: Sendable, Equatable {
        let day: Int
        let product: String
        let storefront: Int
        let sold: Int
        /// What the report says instead; nil: the truth.
        let told: Int?
    }

    /// Transactions in all.
    let count: Int
    let seed: UInt64
    /// 1 % of them: how many of each kind are broken.
    let share: Int
    /// Days before today on which purchases are made: a month, fewer for a small run, which would be mostly questions.
    let days: Int

    init(count: Int, seed: UInt64) {
        self.count = count
        self.seed = seed
        share = max(1, count / 100)
        days = min(30, max(5, count / 100))
    }

    /// Purchases that clients hand in: all but those that are lost, and those whose refund is.
    var submitted: Int { count - 2 * share }
    /// Users who hand them in.
    var users: Int { (submitted + Self.perUser - 1) / Self.perUser }
    /// Those on an order: twice as many as lose its update, so that half of the orders stay right. The first ones.
    var ordered: Range<Int> { 0..<2 * share }
    /// Those whose order's update goes missing.
    var behind: [Int] { ordered.filter { $0.isMultiple(of: 2) } }

    /// Purchase `number` of those that clients hand in.
    func purchase(_ number: Int) -> Purchase {
        var random = SeededGenerator(seed: seed &* 1_000_003 &+ UInt64(number))
        return Purchase(
            user: number / Self.perUser, product: Goods.all[random.below(Goods.all.count)],
            storefront: random.below(Self.storefronts.count), day: 1 + random.below(days),
            second: Self.opens + Int64(random.below(Int(Self.closes - Self.opens))))
    }

    /// Purchases whose ledger line is doubled, and purchases into whose account something is put: each of another user.
    func wallets() -> (doubled: [Int], overpaid: [Int]) {
        var random = SeededGenerator(seed: seed ^ 0xD0)
        let firsts = (0..<users).map { $0 * Self.perUser }.shuffled(using: &random)
        return (Array(firsts.prefix(share)), Array(firsts.dropFirst(share).prefix(share)))
    }

    /// Rows of the month's reports, 1 % of them off by one.
    func sales() -> [SalesRow] {
        var sold: [Place: Int] = [:]
        for number in 0..<submitted {
            let one = purchase(number)
            sold[Place(day: one.day, product: one.product.id, storefront: one.storefront), default: 0] += 1
        }
        var random = SeededGenerator(seed: seed ^ 0x5A)
        let places = sold.keys.sorted()
        let wrong = Set(places.shuffled(using: &random).prefix(max(1, places.count / 100)))
        return places.map { place in
            let count = sold[place] ?? 0
            let isLess = count > 1 && random.below(2) == 0
            return SalesRow(
                day: place.day, product: place.product, storefront: place.storefront, sold: count,
                told: wrong.contains(place) ? count + (isLess ? -1 : 1) : nil)
        }
    }

    private struct Place: Hashable, Comparable {
        let day: Int
        let product: String
        let storefront: Int

        static func < (one: Place, other: Place) -> Bool {
            (one.day, one.product, one.storefront) < (other.day, other.product, other.storefront)
        }
    }
}

extension SeededGenerator {
    /// 0 ..< `bound`.
    fileprivate mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }
}
