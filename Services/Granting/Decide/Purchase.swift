import Messages

/// What is known of one of Apple's transactions: the newest signed statement about it, and who owns it.
struct Purchase: Sendable, Equatable {
    /// The newest statement Apple signed, whatever brought it.
    var statement: VerifiedTransaction
    /// The app whose bundle id Apple signed.
    var app: AppID
    /// Whose it is, once that is settled.
    var owner: CustomerID?
    /// Who last handed it in while it could not be granted; a re-drive acts for them.
    var submitter: CustomerID?
    /// The order they named.
    var submittedOrder: OrderNumber?
    /// The order delivered by it.
    var orderNumber: OrderNumber?
    /// Why it waits, if it does.
    var heldReason: HeldReason?
    /// No order and no token proved the owner: the first caller got it (a risk mark).
    var isClaimedByCaller = false
    /// The message by which it was first heard of.
    var firstCause: MessageID?
    /// The transaction whose grant delivers it: itself, or for a restored non-consumable the first one.
    var deliveredBy: TransactionID?

    /// Its identity.
    var key: TransactionKey { statement.key }

    /// The key of the grant that delivers it.
    var grantKey: TransactionKey? {
        deliveredBy.map { TransactionKey(environment: statement.environment, transactionID: $0) }
    }

    /// Whether its owner got all of the money back before anything was delivered.
    var isRefundedUndelivered: Bool {
        owner != nil && deliveredBy == nil && statement.takenShare == VerifiedTransaction.wholeShare
    }

    /// A purchase first heard of by `statement`.
    init(statement: VerifiedTransaction, app: AppID) {
        self.statement = statement
        self.app = app
    }

    /// Takes over a statement if it is newer than what is known, and tells whether it was.
    ///
    /// Newer: later `signedDate`; on a tie the larger revoked share, then the larger payload hash. An older statement
    /// never undoes a newer one, so every order of arrival ends in the same state. Only a token is kept whichever
    /// statement brought it: a later statement without it takes no proof of ownership away.
    mutating func adopt(_ other: VerifiedTransaction) -> Bool {
        // What a receipt leaves open the catalogue may know later.
        let type = statement.productType.isEmpty ? other.productType : statement.productType
        if statement.productType.isEmpty { statement.productType = type }
        if var joined = statement.joined(with: other) {
            if joined.productType.isEmpty { joined.productType = type }
            defer { statement = joined }
            return joined.signedDate != statement.signedDate || joined.revokedShare != statement.revokedShare
        }
        let token = statement.appAccountToken ?? other.appAccountToken
        guard other.isNewer(than: statement) else {
            statement.appAccountToken = token
            return false
        }
        statement = other
        statement.appAccountToken = other.appAccountToken ?? token
        return true
    }
}

extension VerifiedTransaction {
    /// The order of statements about one transaction.
    func isNewer(than other: VerifiedTransaction) -> Bool {
        if signedDate != other.signedDate { return signedDate > other.signedDate }
        if revokedShare != other.revokedShare { return revokedShare > other.revokedShare }
        return payloadHash > other.payloadHash
    }

    /// What a receipt and a signed transaction, or two receipts, tell together, in whichever order they came; nil if both
    /// are signed transactions.
    ///
    /// A receipt tells less: it never replaces a signed transaction. It may set a revocation, if it is newer, and clears
    /// none: not even an older receipt's, because receipts of different devices are of different age.
    fileprivate func joined(with other: VerifiedTransaction) -> VerifiedTransaction? {
        switch (isFromReceipt, other.isFromReceipt) {
        case (false, false): return nil
        case (false, true): return adding(revocationOf: other)
        case (true, false): return other.adding(revocationOf: self)
        case (true, true):
            // One that sets a revocation stays the one to compare with, at its own date.
            if (revocationDate == nil) != (other.revocationDate == nil) { return revocationDate == nil ? other : self }
            return other.isNewer(than: self) ? other : self
        }
    }

    private func adding(revocationOf receipt: VerifiedTransaction) -> VerifiedTransaction {
        guard receipt.revocationDate != nil, receipt.isNewer(than: self) else { return self }
        var joined = self
        joined.signedDate = receipt.signedDate
        joined.revocationDate = receipt.revocationDate
        joined.revocationReason = receipt.revocationReason
        joined.revocationPercentage = nil
        joined.revocationType = nil
        return joined
    }

    /// Sold once per Apple account and restored for ever.
    var isNonConsumable: Bool { productType == "Non-Consumable" }

    /// Shared by a family member, who paid.
    var isFamilyShared: Bool { ownership == "FAMILY_SHARED" }
}
