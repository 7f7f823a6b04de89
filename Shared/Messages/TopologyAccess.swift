/// Who may say what: one broker user per executable, everything not named here is refused.
///
/// A user is kept to its exchanges by their names alone. Routing keys are a second net with holes: RabbitMQ 3.10 looks at
/// the key of a message but not at those in its headers `CC` and `BCC`, and not at all at what a queue or exchange sends
/// on. An asker may make queues, so also exchanges, of its own names, and could send any key from there (by
/// dead-lettering, as alternate exchange, by a binding) to every exchange it may write. Hence an exchange a user, and
/// nothing but that user's messages behind it. Messages that came back by `purser.retry` are checked by the lane.
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
        /// Where it says them: an exchange that nobody else may write.
        public var exchange: String { Topology.exchange(of: user) }
    }

    /// The exchange on which `user` speaks.
    public static func exchange(of user: String) -> String { "purser.from.\(user)" }

    /// The exchanges over which messages of `type` come: one for each user that may say it.
    public static func exchanges(saying type: MessageType) -> [String] {
        accesses.filter { $0.says.contains(type) }.map(\.exchange)
    }

    /// The gateway: requests of clients and calls of Apple, nothing else.
    public static let gatewayAccess = Access(
        user: "gateway",
        says: [
            .purchaseSubmitted, .orderRequested, .tokenRequested, .spendRequested, .catalogRequested, .balanceRequested,
            .ledgerRequested, .transactionRequested, .entitlementsRequested, .notificationReceived,
            .consentChangeRequested, .consentRequested, .historyRequested,
        ], reads: [], asks: true, answers: false, operates: false)
    /// Verification: the only one that can say `purchase.verified`, and what is revoked.
    public static let verificationAccess = Access(
        user: "verification",
        says: [
            .purchaseVerified, .chainCheckRequested, .chainChecked, .evidenceEraseRequested, .receiptCheckRequested,
        ],
        reads: [
            verificationPurchases, verificationRevocations, verificationCommands, verificationReceipts,
            verificationQueries,
        ],
        asks: false, answers: true,
        operates: false)
    /// Granting. It reads its own facts again after its database was restored to an older backup.
    public static let grantingAccess = Access(
        user: "granting", says: streamedFacts + [.purchaseRedriveRequested],
        reads: [grantingPurchases, grantingWallet, grantingCommands, grantingQueries, grantingNotifications, facts],
        asks: false, answers: true,
        operates: false)
    /// Intake: the only one that can say what Apple has told, and the only one that may ask what Apple may be told.
    public static let intakeAccess = Access(
        user: "intake", says: MessageType.notifications + [.chainCheckRequested, .consumptionAssessmentRequested],
        reads: [intakeNotifications, intakeCommands, intakeRevocations, intakeQueries], asks: true, answers: true,
        operates: false)
    /// Reconciliation: reads the stream of facts, asks, has said again what was lost, and hands in what Apple signed and
    /// nobody brought, to be verified like everybody's. It can claim nothing for anybody: that is `regrant.requested`, an
    /// operator's word.
    public static let reconciliationAccess = Access(
        user: "reconciliation",
        says: [
            .evidencePageRequested, .evidenceRedriveRequested, .purchaseStatesRequested, .booksPageRequested,
            .notificationStatesRequested, .notificationReceived, .notificationRedriveRequested, .chainsRequested,
            .consumptionDeadlinesRequested, .transactionReceived,
        ],
        reads: [reconciliationCommands, reconciliationLookups, facts], asks: true, answers: true, operates: false)
    /// The operator's command line: requests only.
    public static let controlAccess = Access(
        user: "control",
        says: [
            .catalogImportRequested, .catalogRequested, .notificationRedriveRequested, .riskClearRequested,
            .userEraseRequested, .userTransferRequested, .sandboxSweepRequested,
            .regrantRequested, .findingAcceptRequested, .findingRedriveRequested, .salesImportRequested,
            .reconciliationRunRequested, .appleOrderRequested,
        ],
        reads: [],
        asks: true, answers: false, operates: true)

    /// All users.
    public static let accesses = [
        gatewayAccess, verificationAccess, grantingAccess, intakeAccess, reconciliationAccess, controlAccess,
    ]

    /// The name of a reply queue: the user and something unique to this boot.
    public static func replyQueue(user: String, boot: String) -> String { "\(user).replies.\(boot)" }
}
