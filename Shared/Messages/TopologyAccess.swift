/// Who may say what: one broker user per executable, everything not named here is refused.
extension Topology {
    /// A broker user and what it may do.
    public struct Access: Sendable {
        /// The broker user, equal to the prefix of the queues it owns.
        public let user: String
        /// Types it may publish to `purser`.
        public let says: [MessageType]
        /// Queues it reads; each also gives the right to retry and park what came from it.
        public let reads: [Queue]
        /// Whether it has reply queues of its own (asks questions).
        public let asks: Bool
        /// Whether it may answer.
        public let answers: Bool
        /// Whether it may look into parked queues and send their messages back by the retry ladder.
        public let operates: Bool
    }

    /// The gateway: requests of clients, nothing else.
    public static let gatewayAccess = Access(
        user: "gateway",
        says: [
            .purchaseSubmitted, .orderRequested, .spendRequested, .catalogRequested, .balanceRequested,
            .ledgerRequested, .transactionRequested,
        ], reads: [], asks: true, answers: false, operates: false)
    /// Verification: the only one that can say `purchase.verified`.
    public static let verificationAccess = Access(
        user: "verification", says: [.purchaseVerified], reads: [verificationPurchases], asks: false, answers: true,
        operates: false)
    /// Granting.
    public static let grantingAccess = Access(
        user: "granting", says: streamedFacts + [.purchaseRedriveRequested],
        reads: [grantingPurchases, grantingWallet, grantingCommands, grantingQueries], asks: false, answers: true,
        operates: false)
    /// The operator's command line: requests only.
    public static let controlAccess = Access(
        user: "control", says: [.catalogImportRequested, .catalogRequested], reads: [], asks: true, answers: false,
        operates: true)

    /// All users.
    public static let accesses = [gatewayAccess, verificationAccess, grantingAccess, controlAccess]

    /// The name of a reply queue: the user and something unique to this boot.
    public static func replyQueue(user: String, boot: String) -> String { "\(user).replies.\(boot)" }
}
