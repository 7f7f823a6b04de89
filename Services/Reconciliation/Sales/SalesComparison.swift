import JSON
import Postgres

/// A product in a storefront: what Apple counted, and what the purchases can be.
struct SalesComparison: Equatable {
    var product: String
    var storefront: String
    var sold: Int64
    var refunded: Int64
    /// Thousandths of a per cent.
    var commission: Int64?
    var ownSold: ClosedRange<Int64>
    var ownRefunded: ClosedRange<Int64>

    init(_ row: Row) throws {
        product = try row.text("product_id")
        storefront = try row.text("storefront")
        sold = try row.int8("sold")
        refunded = try row.int8("refunded")
        commission = try row.optionalInt8("commission")
        let (soldLeast, refundedLeast) = (try row.int8("sold_least"), try row.int8("refunded_least"))
        ownSold = soldLeast...max(soldLeast, try row.int8("sold_most"))
        ownRefunded = refundedLeast...max(refundedLeast, try row.int8("refunded_most"))
    }

    init(
        product: String, storefront: String, sold: Int64, refunded: Int64 = 0, commission: Int64? = nil,
        ownSold: ClosedRange<Int64>, ownRefunded: ClosedRange<Int64> = 0...0
    ) {
        self.product = product
        self.storefront = storefront
        self.sold = sold
        self.refunded = refunded
        self.commission = commission
        self.ownSold = ownSold
        self.ownRefunded = ownRefunded
    }

    /// Whether units differ by more than `tolerance`.
    func differs(by tolerance: Int64) -> Bool {
        Self.distance(sold, ownSold) > tolerance || Self.distance(refunded, ownRefunded) > tolerance
    }

    /// Whether Apple keeps something else than what was agreed (thousandths of a per cent).
    func keepsOther(than expected: Int64?) -> Bool {
        guard let expected, let commission else { return false }
        return abs(commission - expected) > SalesTolerance.commissionSlack
    }

    /// What is kept of it in a finding.
    func evidence(_ expected: Int64?) -> JSONObject {
        var evidence: JSONObject = [
            "soldByApple": .integer(sold), "refundedByApple": .integer(refunded),
            "sold": .string(Self.text(ownSold)), "refunded": .string(Self.text(ownRefunded)),
        ]
        if let commission { evidence.set("commissionOfApple", .integer(commission)) }
        if let expected { evidence.set("commissionAgreed", .integer(expected)) }
        return evidence
    }

    private static func distance(_ number: Int64, _ range: ClosedRange<Int64>) -> Int64 {
        if number < range.lowerBound { return range.lowerBound - number }
        return number > range.upperBound ? number - range.upperBound : 0
    }

    private static func text(_ range: ClosedRange<Int64>) -> String {
        range.lowerBound == range.upperBound ? "\(range.lowerBound)" : "\(range.lowerBound) to \(range.upperBound)"
    }
}
