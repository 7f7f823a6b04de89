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

    /// Counts the newest statement of a purchase that has an owner, delivered or not: the customer bought it and got the
    /// money back.
    mutating func count(_ purchase: Purchase) {
        let statement = purchase.statement
        guard let owner = purchase.owner, statement.revokedShare > 0 || countedRefunds[purchase.key] != nil else {
            return
        }
        countedRefunds[purchase.key] = CountedRefund(
            key: purchase.key, customer: owner, revocationDate: statement.revocationDate ?? 0,
            price: statement.price, currency: statement.currency, share: statement.takenShare)
    }

    /// Asks somebody to look once a refund brings its customer to the app's limit, and with every one beyond it.
    mutating func flagRefunds(_ flag: RiskFlag, _ facts: inout [Announcement]) {
        guard let limit = catalog(of: flag.app).risk?.review, reaches(limit, flag.customer) else { return }
        raise(flag, &facts)
    }

    /// The same for a purchase that was refunded in full before anybody could be granted it: it has no change of a grant
    /// to be numbered by, so it is the date of the statement (ms since 1970), which a later refund exceeds.
    mutating func flagUndelivered(_ purchase: Purchase, _ cause: MessageID, _ facts: inout [Announcement]) {
        guard let owner = purchase.owner else { return }
        let flag = RiskFlag(
            key: purchase.key, app: purchase.app, customer: owner, kind: .review,
            revision: purchase.statement.signedDate, cause: cause)
        flagRefunds(flag, &facts)
    }
}
