import Messages

/// What Apple may be told about a purchase whose customer asks for a refund: a pure function of the books.
struct ConsumptionAssessment {
    /// What the books hold.
    struct Facts: Sendable {
        /// The app's policy, if it answers at all.
        var policy: ConsumptionPolicy?
        /// From how many refunds on the app wants somebody to look.
        var review: RiskLimit?
        /// The time (ms since 1970).
        var now: Int64 = 0
        /// The newest statement about the purchase; nil if nobody has brought it yet.
        var purchase: Purchase?
        /// Whose it is: its owner, or the customer its token was issued to; nil if that is open, or the user is erased.
        var customer: CustomerID?
        /// Whether the customer's consent is in force.
        var hasConsented = false
        /// Whether a grant delivers it.
        var isDelivered = false
        /// What each of its lots granted, and how much of that was spent.
        var lots: [(amount: Int64, spent: Int64)] = []
        /// The customer's delivered purchases in this environment, and what was paid for them.
        var bought: [CountedRefund] = []
        /// Of them, what an operator has cleared (ms since 1970).
        var clearedUntil: Int64?
    }

    private let facts: Facts
    private let question: ConsumptionAssessmentRequested

    /// Assesses what was asked for.
    init(_ facts: Facts, of question: ConsumptionAssessmentRequested) {
        self.facts = facts
        self.question = question
    }

    /// The answer.
    var answer: ConsumptionAssessed {
        var answer = ConsumptionAssessed(isAnswered: facts.policy != nil)
        guard let policy = facts.policy else { return answer }
        answer.isSampleProvided = policy.isSampleProvided
        guard let statement = facts.purchase?.statement else { return answer }
        answer.productType = statement.productType
        answer.appAccountToken = statement.appAccountToken
        answer.isDelivered = facts.isDelivered
        answer.consumedShare = consumedShare(statement)
        answer.isOwned = facts.customer != nil
        // Nothing about a person without their word.
        guard facts.customer != nil, facts.hasConsented else { return answer }
        answer.hasConsented = true
        addHistory(&answer)
        answer.preference = preference(policy, answer)
        return answer
    }

    /// The spent part of what the purchase granted. Of several assets, which have no common measure, the mean of their
    /// shares; rounded down, so that 100,000 is all of it. Only spends count: what a refund took was not used.
    private func consumedShare(_ statement: VerifiedTransaction) -> Int64? {
        guard !statement.isAutoRenewable else { return nil }
        guard facts.isDelivered else { return 0 }
        guard !facts.lots.isEmpty else { return nil }
        // Fine enough that the mean of shares loses nothing that a milliunit could show; far from 64 bits.
        let fine: Int64 = 1_000_000
        let whole = VerifiedTransaction.wholeShare * fine
        var sum: Int64 = 0
        for lot in facts.lots where lot.amount > 0 {
            let spent = min(max(lot.spent, 0), lot.amount)
            let (share, rest) = lot.amount.dividingFullWidth(spent.multipliedFullWidth(by: whole))
            // Of several shares the parts that are cut off may add up to a milliunit, as of 1/3 and 2/3.
            sum += facts.lots.count > 1 && rest > 0 ? share + 1 : share
        }
        let share = sum / Int64(facts.lots.count) / fine
        let isUsedUp = facts.lots.allSatisfy { $0.spent >= $0.amount }
        return isUsedUp ? share : min(share, VerifiedTransaction.wholeShare - 1)
    }

    private func addHistory(_ answer: inout ConsumptionAssessed) {
        let refunds = facts.bought.filter { $0.share > 0 }
        answer.purchases = Int64(facts.bought.count)
        answer.refunds = Int64(refunds.count)
        answer.recentRefunds = Int64(refunds.count { $0.revocationDate > facts.now - Books.riskWindow })
        answer.isUnderReview = isUnderReview(refunds)
        guard !facts.bought.isEmpty, facts.bought.allSatisfy({ $0.currency == "USD" && $0.price != nil }) else {
            return
        }
        answer.dollarsPurchased = Self.sum(facts.bought.map { $0.price ?? 0 })
        answer.dollarsRefunded = Self.sum(refunds.map(\.amount))
    }

    /// By the rules that flag a customer for people (``Books/reaches(_:_:)``).
    private func isUnderReview(_ refunds: [CountedRefund]) -> Bool {
        guard let limit = facts.review, let customer = facts.customer else { return false }
        var books = Books(siblingOrderNumber: { _, _ in OrderNumber("") })
        books.now = facts.now
        for refund in refunds { books.countedRefunds[refund.key] = refund }
        books.clearedUntil[customer] = facts.clearedUntil
        return books.reaches(limit, customer)
    }

    private static func sum(_ amounts: [Int64]) -> Int64 {
        amounts.reduce(0) { sum, amount in
            let (total, overflow) = sum.addingReportingOverflow(max(0, amount))
            return overflow ? .max : total
        }
    }

    /// The app's preference, as far as it fits what happened: what was never delivered is not declined; a share can be
    /// preferred only where there is one; and of a customer with too many refunds the app declines another.
    private func preference(_ policy: ConsumptionPolicy, _ answer: ConsumptionAssessed) -> RefundPreference? {
        guard let wanted = policy.preference else { return nil }
        guard answer.isDelivered else { return .grantFull }
        if answer.isUnderReview { return .decline }
        guard wanted == .grantProrated else { return wanted }
        switch answer.consumedShare {
        case nil: return nil
        case 0: return .grantFull
        case VerifiedTransaction.wholeShare: return .decline
        default: return .grantProrated
        }
    }
}
