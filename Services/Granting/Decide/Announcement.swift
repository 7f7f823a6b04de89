import Messages

/// A fact that a decision brought about, before it has a row.
struct Announcement: Sendable, Equatable {
    /// The possible bodies.
    enum Body: Sendable, Equatable {
        /// Delivered.
        case granted(PurchaseGranted)
        /// Waits.
        case held(PurchaseHeld)
        /// Known, without a grant of its own and not held.
        case noted(PurchaseNoted)
        /// Not to be spent.
        case frozen(PurchaseFrozen)
        /// The revoked share changed and assets moved.
        case clawedBack(PurchaseClawedBack)
        /// A debt was paid.
        case debtRepaid(DebtRepaid)
        /// Somebody should look at a customer.
        case riskFlagged(RiskFlagged)
        /// An order and its token exist.
        case orderCreated(OrderCreated)
        /// A user's token exists.
        case tokenIssued(TokenIssued)
        /// A spend was decided.
        case spendDecided(SpendDecided)
        /// A word about consent is on record.
        case consentChanged(ConsentChanged)
        /// Sandbox purchases were swept out of a wallet.
        case swept(SandboxSwept)
    }

    /// What became true.
    var body: Body
    /// What it is about, unique within its type.
    var key: String
    /// Which change of `key` it is.
    var revision: Int64 = 0
    /// Apple's book, where it is about a purchase.
    var environment: StoreEnvironment?
}
