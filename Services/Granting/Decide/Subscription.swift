import Messages

/// A period of a subscription: granted once, whichever transaction tells of it.
struct PeriodKey: Hashable, Sendable, Comparable {
    /// Apple's book.
    var environment: StoreEnvironment
    /// The subscription.
    var originalTransactionID: TransactionID
    /// Apple's web order line item, the same on every device; without one the transaction itself.
    var item: String

    /// The order in which they are looked up.
    static func < (left: Self, right: Self) -> Bool {
        (left.environment, left.originalTransactionID, left.item)
            < (right.environment, right.originalTransactionID, right.item)
    }
}

/// Who owns a subscription: the owner of its newest period that has one.
struct SubscriptionOwner: Sendable, Equatable {
    /// Whose.
    var customer: CustomerID
    /// When that period was bought (ms since 1970).
    var since: Int64
    /// That period's transaction.
    var transactionID: TransactionID

    /// Whether the other period is older.
    func isNewer(than other: SubscriptionOwner) -> Bool {
        (since, transactionID) >= (other.since, other.transactionID)
    }
}

/// What Apple says about the next renewal of a subscription, and for which app.
struct Renewal: Sendable, Equatable {
    /// What Apple signed.
    var info: VerifiedRenewal
    /// The app.
    var app: AppID

    /// The subscription; the transaction id stands for the original one.
    var chain: TransactionKey {
        TransactionKey(environment: info.environment, transactionID: info.originalTransactionID)
    }

    /// The newest of each subscription, sorted: later `signedDate`, on a tie the larger payload hash.
    static func newest(_ renewals: [Renewal]) -> [Renewal] {
        var newest: [TransactionKey: Renewal] = [:]
        for renewal in renewals {
            if let known = newest[renewal.chain]?.info,
                (known.signedDate, known.payloadHash) >= (renewal.info.signedDate, renewal.info.payloadHash)
            {
                continue
            }
            newest[renewal.chain] = renewal
        }
        return newest.values.sorted { $0.chain < $1.chain }
    }
}

extension VerifiedTransaction {
    /// A period of a subscription that renews itself.
    var isAutoRenewable: Bool { productType == "Auto-Renewable Subscription" }

    /// The chain of restores or renewals; the transaction id stands for the original one.
    var chain: TransactionKey { TransactionKey(environment: environment, transactionID: originalTransactionID) }

    /// The period, of what the buyer paid. A family member's is their own transaction and nothing else.
    var period: PeriodKey? {
        guard isAutoRenewable, !isFamilyShared else { return nil }
        return PeriodKey(
            environment: environment, originalTransactionID: originalTransactionID,
            item: webOrderLineItemID ?? transactionID.rawValue)
    }

    /// The share that is taken back from the wallet. What Apple pays back for the rest of a period because of an upgrade
    /// is no refund: the customer goes on paying, and what the period credited stays.
    var takenShare: Int64 { isAutoRenewable && isUpgraded == true ? 0 : revokedShare }
}
