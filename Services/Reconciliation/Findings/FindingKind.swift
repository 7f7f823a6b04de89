/// What can be wrong.
enum FindingKind: String, CaseIterable, Sendable {
    /// Verified, and neither granted nor held.
    case purchaseUndecided = "purchase_undecided"
    /// Held for longer than wanted.
    case purchaseHeld = "purchase_held"
    /// Nobody's for longer than wanted.
    case purchaseUnclaimed = "purchase_unclaimed"
    /// A queue has parked messages.
    case messagesParked = "messages_parked"
    /// Facts that left the stream before they were read.
    case journalGap = "journal_gap"
    /// The stream was made anew.
    case streamReplaced = "stream_replaced"
    /// A message of the stream that is no fact.
    case factUnreadable = "fact_unreadable"
    /// Apple counted other units as sold, or kept more of the price.
    case salesDiffer = "sales_differ"
    /// Apple has told it, and it never came.
    case notificationMissed = "notification_missed"
    /// It came, and Granting does not know what it says.
    case notificationUnapplied = "notification_unapplied"
    /// Apple cannot be asked for an app.
    case appleUnreachable = "apple_unreachable"
    /// The certificates that sign for us end soon, and no others have been seen.
    case certificateExpiring = "certificate_expiring"
    /// Apple signs with other certificates than before.
    case certificateNew = "certificate_new"
    /// Apple waits for an answer about the use of a purchase, or has waited in vain.
    case consumptionDeadline = "consumption_deadline"

    /// A balance, or the chain of its ledger, is not what the ledger adds up to.
    case balanceDiffers = "balance_differs"
    /// What is left of an account's lots is not its balance.
    case lotsDiffer = "lots_differ"
    /// What a purchase put into the ledger is not what it gave.
    case amountDiffers = "amount_differs"
    /// Granted, and its order still waits.
    case orderBehind = "order_behind"
    /// Granted as verified, and nothing was verified.
    case evidenceMissing = "evidence_missing"
    /// Apple has refunded it, and Granting does not know.
    case refundMissed = "refund_missed"
    /// A refund was told more than a day after it.
    case refundLate = "refund_late"

    /// How soon a person should look.
    var severity: FindingSeverity {
        switch self {
        // Mended by itself most often.
        case .purchaseUndecided: .warning
        case .purchaseHeld: .warning
        // A user who has not come back; theirs when they do.
        case .purchaseUnclaimed: .notice
        case .messagesParked, .journalGap: .critical
        // Somebody's money, and nothing that mends it by itself.
        case .balanceDiffers, .lotsDiffer, .amountDiffers, .evidenceMissing: .critical
        case .orderBehind, .refundMissed: .warning
        case .refundLate, .certificateNew: .notice
        // Mended by itself; critical when that fails.
        case .notificationMissed, .notificationUnapplied: .warning
        // While it lasts nothing that is missed can be found.
        case .appleUnreachable: .critical
        case .streamReplaced, .factUnreadable, .salesDiffer: .warning
        // There is time, and nothing that mends it by itself.
        case .certificateExpiring, .consumptionDeadline: .warning
        }
    }

    /// Whether deciding the purchase anew could mend it.
    var isRedrivable: Bool {
        switch self {
        case .purchaseUndecided, .purchaseHeld, .purchaseUnclaimed, .refundMissed: true
        case .messagesParked, .journalGap, .streamReplaced, .factUnreadable, .balanceDiffers, .lotsDiffer,
            .amountDiffers, .orderBehind, .evidenceMissing, .refundLate, .salesDiffer, .notificationMissed,
            .notificationUnapplied, .appleUnreachable, .certificateExpiring, .certificateNew, .consumptionDeadline:
            false
        }
    }
}

/// How soon a person should look at a finding.
enum FindingSeverity: String, CaseIterable, Sendable {
    /// When there is time.
    case notice
    /// In working hours.
    case warning
    /// Now.
    case critical
}
