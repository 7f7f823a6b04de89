/// Every exchange, queue, binding, policy and permission of Purser, in one place.
///
///     <user>  ─▶ purser.from.<user> (topic) ─▶ <service>.<work> (quorum) ─dead letters─▶ purser.parked ─▶ <queue>.parked
///     lanes   ─▶ purser.retry (topic, "<delay>.<queue>") ─▶ retry.<delay> (quorum, TTL) ─▶ purser.return ─▶ <queue>
///     lanes   ─▶ purser.replies (direct) ─▶ one exclusive queue per gateway boot
///     granting's facts ─▶ purser.from.granting ─▶ purser.facts (stream)
///
/// Everybody speaks on an exchange of its own, and a queue is bound only to the exchanges of those who may say what it
/// takes: so who said it does not depend on routing keys, which the broker checks incompletely (see TopologyAccess).
///
/// Work queues take limits by policy (changeable while it runs); what can never change is an argument.
/// `purser topology` prints it as a RabbitMQ definitions file; scripts and tests import exactly that.
public enum Topology {
    /// Delayed retries, key `<delay>.<queue>`.
    public static let retry = "purser.retry"
    /// Where delayed messages come back through; internal, nobody can publish to it.
    public static let returning = "purser.return"
    /// What could not be handled, key = queue name.
    public static let parked = "purser.parked"
    /// Answers, key = the asker's reply-to.
    public static let replies = "purser.replies"
    /// The stream that keeps a copy of facts for observers.
    public static let factsStream = "purser.facts"

    /// How often the broker may return one message to its queue before it is parked. A small limit parks valid
    /// messages when a service crashes often: every unacknowledged neighbour counts too (measured with 3: a fifth lost).
    public static let deliveryLimit = 50
    /// Days the facts stream keeps; must exceed the age of the oldest database backup that may be restored.
    public static let factsRetentionDays = 60
    /// How long a question waits before it is worthless to its asker (ms).
    public static let queryPatience = 5_000

    /// A step of the retry ladder.
    public enum RetryDelay: String, CaseIterable, Sendable {
        case seconds5 = "5s"
        case seconds30 = "30s"
        case minutes5 = "5m"
        case hour1 = "1h"

        /// Milliseconds a message waits.
        public var milliseconds: Int {
            switch self {
            case .seconds5: 5_000
            case .seconds30: 30_000
            case .minutes5: 300_000
            case .hour1: 3_600_000
            }
        }

        /// The routing key that brings a message back to `queue` after this delay.
        public func routingKey(for queue: String) -> String { "\(rawValue).\(queue)" }
    }

    /// How a queue behaves.
    public enum Durability: Sendable {
        /// Quorum queue with delivery limit and a parking queue beside it.
        case work
        /// Classic, transient, expiring with the asker's patience, not dead-lettered.
        case query
        /// A log that is read by offset and never used up.
        case stream
    }

    /// A queue and the fixed list of message types it accepts.
    public struct Queue: Sendable {
        /// Its name; the first word is the owning service.
        public let name: String
        /// How it behaves.
        public let durability: Durability
        /// What it is bound to.
        public let types: [MessageType]
        /// Where what a lane gives up on goes.
        public var parkedName: String { "\(name).parked" }
        /// Whether what it holds must not be lost: all but questions.
        public var isWork: Bool { if case .work = durability { true } else { false } }
    }

    /// Purchases to verify.
    public static let verificationPurchases = Queue(
        name: "verification.purchases", durability: .work, types: [.purchaseSubmitted, .transactionReceived])
    /// Chains of certificates to ask Apple's responders about.
    public static let verificationRevocations = Queue(
        name: "verification.revocations", durability: .work, types: [.chainCheckRequested])
    /// Operators and reconciliation, and what Verification asks itself.
    public static let verificationCommands = Queue(
        name: "verification.commands", durability: .work,
        types: [.userEraseRequested, .evidenceEraseRequested, .evidenceRedriveRequested, .regrantRequested])
    /// Receipts to ask Apple about.
    public static let verificationReceipts = Queue(
        name: "verification.receipts", durability: .work, types: [.receiptCheckRequested])
    /// Questions about what was verified.
    public static let verificationQueries = Queue(
        name: "verification.queries", durability: .query, types: [.evidencePageRequested, .chainsRequested])
    /// Verified purchases to grant.
    public static let grantingPurchases = Queue(
        name: "granting.purchases", durability: .work, types: [.purchaseVerified])
    /// Orders, spends and consent.
    public static let grantingWallet = Queue(
        name: "granting.wallet", durability: .work,
        types: [.orderRequested, .tokenRequested, .spendRequested, .consentChangeRequested])
    /// Operators and re-drives.
    public static let grantingCommands = Queue(
        name: "granting.commands", durability: .work,
        types: [
            .catalogImportRequested, .purchaseRedriveRequested, .riskClearRequested, .userEraseRequested,
            .userTransferRequested, .sandboxSweepRequested,
        ])
    /// Questions.
    public static let grantingQueries = Queue(
        name: "granting.queries", durability: .query,
        types: [
            .catalogRequested, .balanceRequested, .ledgerRequested, .transactionRequested, .entitlementsRequested,
            .consentRequested, .consumptionAssessmentRequested, .historyRequested, .purchaseStatesRequested,
            .booksPageRequested,
        ])

    /// Questions about what Apple has told.
    public static let intakeQueries = Queue(
        name: "intake.queries", durability: .query,
        types: [.notificationStatesRequested, .consumptionDeadlinesRequested])
    /// Genuine notifications of Apple to act on.
    public static let grantingNotifications = Queue(
        name: "granting.notifications", durability: .work, types: MessageType.notifications)
    /// What Apple sent, unverified.
    public static let intakeNotifications = Queue(
        name: "intake.notifications", durability: .work, types: [.notificationReceived])
    /// Operators and re-drives of notifications.
    public static let intakeCommands = Queue(
        name: "intake.commands", durability: .work, types: [.notificationRedriveRequested])

    /// What Apple's responders have said.
    public static let intakeRevocations = Queue(
        name: "intake.revocations", durability: .work, types: [.chainChecked])

    /// What operators decide about findings, and what they hand in.
    public static let reconciliationCommands = Queue(
        name: "reconciliation.commands", durability: .work,
        types: [
            .findingAcceptRequested, .findingRedriveRequested, .salesImportRequested, .reconciliationRunRequested,
        ])

    /// Questions that only Apple can answer.
    public static let reconciliationLookups = Queue(
        name: "reconciliation.lookups", durability: .query, types: [.appleOrderRequested])

    /// All queues but the parking, retry and reply ones, which follow from these, and the stream.
    public static let queues = [
        verificationPurchases, verificationRevocations, verificationCommands, verificationReceipts,
        verificationQueries, grantingPurchases, grantingWallet, grantingCommands, grantingQueries,
        grantingNotifications, intakeNotifications, intakeCommands, intakeRevocations, intakeQueries,
        reconciliationCommands, reconciliationLookups,
    ]

    /// The queues whose messages are retried, parked and replayed.
    public static var workQueues: [Queue] { queues.filter(\.isWork) }

    /// Facts copied to the stream: no payloads, no personal data.
    public static let streamedFacts: [MessageType] = [
        .purchaseGranted, .purchaseHeld, .purchaseNoted, .purchaseFrozen, .purchaseClawedBack, .debtRepaid,
        .riskFlagged, .riskCleared, .orderCreated, .tokenIssued, .spendDecided, .consentChanged, .catalogImported,
        .userErased, .userTransferred, .sandboxSwept,
    ]

    /// The stream as its reader sees it.
    public static let facts = Queue(name: factsStream, durability: .stream, types: streamedFacts)

    /// The queues that `type` reaches.
    public static func queues(accepting type: MessageType) -> [String] {
        queues.filter { $0.types.contains(type) }.map(\.name) + (streamedFacts.contains(type) ? [factsStream] : [])
    }
}

extension Topology {
    /// Whether messages of `type` must survive a restart of the broker: all but questions.
    public static func isDurable(_ type: MessageType) -> Bool {
        workQueues.contains { $0.types.contains(type) }
    }
}
