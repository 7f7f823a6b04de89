import Messages

/// What one purchase put into a wallet, and how much of it is left. Spends and clawbacks draw on lots, so the spent
/// share of any purchase is exact.
struct Lot: Sendable, Equatable {
    /// The purchase and the asset.
    var key: LotKey
    /// Whose.
    var customer: CustomerID
    /// What was granted.
    var amount: Int64
    /// What is left: 0…amount.
    var remaining: Int64
    /// Not to be spent: its owner is in doubt.
    var isFrozen = false

    /// The account it is part of.
    var account: AccountKey { AccountKey(customer: customer, asset: key.asset) }
}

/// A purchase and one of the assets it granted.
struct LotKey: Hashable, Sendable {
    /// The purchase.
    var purchase: TransactionKey
    /// The asset.
    var asset: AssetID
}

/// One movement of a lot. Positive amounts left the lot, negative ones came back.
struct Draw: Sendable, Equatable {
    /// What for.
    enum Kind: String, Sendable {
        /// The customer used it.
        case spend
        /// A refund took it back.
        case clawback
        /// It paid a debt.
        case repayment
        /// It was bought in the sandbox and swept.
        case sweep
    }

    /// Which lot.
    var lot: LotKey
    /// What for.
    var kind: Kind
    /// The source id of the ledger row.
    var sourceID: String
    /// The refunded purchase that drew it or is owed for; nil for spends and sweeps.
    var refunded: TransactionKey?
    /// How much, never 0.
    var amount: Int64
}

/// What a refund could not take back because it had been spent.
struct Debt: Sendable, Equatable {
    /// The refunded purchase and the asset.
    var key: LotKey
    /// Who owes it.
    var customer: CustomerID
    /// How much is owed.
    var amount: Int64
    /// How much of it was paid back since: 0…amount.
    var settled: Int64 = 0

    /// What is still open.
    var open: Int64 { amount - settled }
}
