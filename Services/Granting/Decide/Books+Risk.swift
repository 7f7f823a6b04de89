import Messages

/// A refunded purchase, as far as limits count it.
struct CountedRefund: Sendable, Equatable {
    /// The purchase.
    var key: TransactionKey
    /// Whose.
    var customer: CustomerID
    /// When Apple took it back (ms since 1970).
    var revocationDate: Int64
    /// What was paid, in milliunits of `currency`; nil where Apple did not say.
    var price: Int64?
    /// ISO 4217.
    var currency: String?
    /// The share that was taken back.
    var share: Int64

    /// What was given back, in milliunits.
    var amount: Int64 { Amounts.share(share, of: price ?? 0) }
}

/// Limits on refunds within 30 days: counted anew at each decision, so they end by themselves.
extension Books {
    /// The window: 30 days in milliseconds.
    static let riskWindow: Int64 = 30 * 86_400_000

    /// Whether a customer's refunds within the window reach a limit, in either environment.
    func reaches(_ limit: RiskLimit?, _ customer: CustomerID) -> Bool {
        guard let limit else { return false }
        let counted = Dictionary(grouping: refunds(of: customer), by: \.key.environment)
        return counted.values.contains { reaches(limit, $0) }
    }

    private func reaches(_ limit: RiskLimit, _ refunds: [CountedRefund]) -> Bool {
        if let most = limit.refunds, Int64(refunds.count) >= most { return true }
        return limit.amounts.contains { most in
            var sum: Int64 = 0
            for refund in refunds where refund.currency == most.currency {
                sum = sum.addingReportingOverflow(refund.amount).overflow ? .max : sum + refund.amount
            }
            return sum >= most.milliunits
        }
    }

    /// A customer's refunds that count now: within the window, and after an operator last cleared the customer.
    private func refunds(of customer: CustomerID) -> [CountedRefund] {
        let from = max(now - Self.riskWindow, clearedUntil[customer] ?? .min)
        return countedRefunds.values.filter { $0.customer == customer && $0.revocationDate > from && $0.share > 0 }
    }

    /// Counts the newest statement of a delivered purchase.
    mutating func count(_ grant: Grant) {
        guard let statement = purchases[grant.key]?.statement else { return }
        countedRefunds[grant.key] = CountedRefund(
            key: grant.key, customer: grant.customer, revocationDate: statement.revocationDate ?? 0,
            price: statement.price, currency: statement.currency, share: statement.takenShare)
    }

    /// Asks somebody to look once a refund brings its customer to the app's limit, and with every one beyond it.
    mutating func flagRefunds(of grant: Grant, _ cause: MessageID, _ facts: inout [Announcement]) {
        guard let limit = catalog(of: grant.app).risk?.review, reaches(limit, grant.customer) else { return }
        raise(
            RiskFlag(
                key: grant.key, app: grant.app, customer: grant.customer, kind: .review, revision: grant.revision,
                cause: cause), &facts)
    }
}
