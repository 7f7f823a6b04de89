import FoundationEssentials

/// A body that travels over the broker: one flat struct per message type, JSON, unknown fields ignored on reading.
///
/// Everything about the message that is not its content (id, causation, correlation, app, environment, time) travels
/// in the AMQP properties and headers; see ``MessageHeader``.
public protocol Message: Codable, Sendable, Equatable {
    /// The routing key on the sayer's exchange and the AMQP `type` property.
    static var type: MessageType { get }
    /// Raised when a field changes its meaning; adding an optional field does not raise it.
    static var version: Int { get }
    /// The routing key of this very message: ``type``, but for bodies that serve several types.
    var messageType: MessageType { get }
    /// Whether messages of `type` have this body.
    static func isBody(of type: MessageType) -> Bool
}

extension Message {
    /// The first version of every message.
    public static var version: Int { 1 }
    /// The one type of most bodies.
    public var messageType: MessageType { Self.type }
    /// Most bodies serve one type.
    public static func isBody(of type: MessageType) -> Bool { type == Self.type }
}

/// The name of a message. Facts are past tense (`purchase.verified`); requests end in `.submitted` or `.requested`.
public struct MessageType: RawRepresentable, Hashable, Sendable, Codable, CustomStringConvertible {
    /// The routing key.
    public let rawValue: String
    /// Wraps a routing key.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// The routing key.
    public var description: String { rawValue }

    /// A client, or a re-drive, hands in a signed transaction.
    public static let purchaseSubmitted = MessageType(rawValue: "purchase.submitted")
    /// Reconciliation hands in a transaction that Apple has signed for it: nobody's.
    public static let transactionReceived = MessageType(rawValue: "transaction.received")
    /// Question of an operator: what was bought under an order id of Apple's e-mails.
    public static let appleOrderRequested = MessageType(rawValue: "apple.order.requested")
    /// The answer to it.
    public static let appleOrderAnswered = MessageType(rawValue: "apple.order.answered")
    /// Verification found a signed transaction genuine and for one of our apps.
    public static let purchaseVerified = MessageType(rawValue: "purchase.verified")
    /// A purchase was delivered to a wallet.
    public static let purchaseGranted = MessageType(rawValue: "purchase.granted")
    /// A genuine purchase may not be granted now.
    public static let purchaseHeld = MessageType(rawValue: "purchase.held")
    /// What is known of a purchase that is neither delivered by a grant of its own nor held has changed.
    public static let purchaseNoted = MessageType(rawValue: "purchase.noted")
    /// What is left of a granted purchase may not be spent: its owner is in doubt.
    public static let purchaseFrozen = MessageType(rawValue: "purchase.frozen")
    /// The revoked share of a granted purchase changed and assets moved.
    public static let purchaseClawedBack = MessageType(rawValue: "purchase.clawedback")
    /// A debt was paid from a later grant or a reversed refund.
    public static let debtRepaid = MessageType(rawValue: "debt.repaid")
    /// Somebody should look at a customer: an alert.
    public static let riskFlagged = MessageType(rawValue: "risk.flagged")
    /// An operator has lifted a customer's limits.
    public static let riskCleared = MessageType(rawValue: "risk.cleared")
    /// An operator clears a user of limits on account of refunds.
    public static let riskClearRequested = MessageType(rawValue: "risk.clear.requested")
    /// It is done.
    public static let riskClearAnswered = MessageType(rawValue: "risk.clear.answered")
    /// Granting asks itself to decide a held purchase anew because catalogue or policy changed.
    public static let purchaseRedriveRequested = MessageType(rawValue: "purchase.redrive.requested")
    /// A client asks for an order and its appAccountToken.
    public static let orderRequested = MessageType(rawValue: "order.requested")
    /// An order and its token were stored.
    public static let orderCreated = MessageType(rawValue: "order.created")
    /// A client asks for its user's own appAccountToken.
    public static let tokenRequested = MessageType(rawValue: "token.requested")
    /// A user's token was stored.
    public static let tokenIssued = MessageType(rawValue: "token.issued")
    /// The answer to a token request.
    public static let tokenAnswered = MessageType(rawValue: "token.answered")
    /// An app's server asks to spend from a wallet.
    public static let spendRequested = MessageType(rawValue: "spend.requested")
    /// A spend was decided, for ever.
    public static let spendDecided = MessageType(rawValue: "spend.decided")
    /// An operator imports a catalogue.
    public static let catalogImportRequested = MessageType(rawValue: "catalog.import.requested")
    /// A catalogue came into force.
    public static let catalogImported = MessageType(rawValue: "catalog.imported")
    /// Question: the catalogue in force.
    public static let catalogRequested = MessageType(rawValue: "catalog.requested")
    /// Question: balances of a user.
    public static let balanceRequested = MessageType(rawValue: "balance.requested")
    /// Question: a page of a user's ledger.
    public static let ledgerRequested = MessageType(rawValue: "ledger.requested")
    /// Question: a page of what was delivered to a user.
    public static let historyRequested = MessageType(rawValue: "history.requested")
    /// The answer to it.
    public static let historyAnswered = MessageType(rawValue: "history.answered")
    /// Question: one of a user's own transactions.
    public static let transactionRequested = MessageType(rawValue: "transaction.requested")
    /// Question: what a user may use besides the wallet.
    public static let entitlementsRequested = MessageType(rawValue: "entitlements.requested")
    /// The answer to a question about entitlements.
    public static let entitlementsAnswered = MessageType(rawValue: "entitlements.answered")
    /// The answer to a purchase; travels over `purser.replies` only.
    public static let purchaseAnswered = MessageType(rawValue: "purchase.answered")
    /// The answer to an order request.
    public static let orderAnswered = MessageType(rawValue: "order.answered")
    /// The answer to a spend request.
    public static let spendAnswered = MessageType(rawValue: "spend.answered")
    /// The answer to a catalogue import or question.
    public static let catalogAnswered = MessageType(rawValue: "catalog.answered")
    /// The answer to a balance question.
    public static let balanceAnswered = MessageType(rawValue: "balance.answered")
    /// The answer to a ledger question.
    public static let ledgerAnswered = MessageType(rawValue: "ledger.answered")
    /// The answer to a transaction question.
    public static let transactionAnswered = MessageType(rawValue: "transaction.answered")
    /// Apple has called: a notification, unverified, in Apple's words.
    public static let notificationReceived = MessageType(rawValue: "notification.received")
    /// An operator, or reconciliation, wants a stored notification told again.
    public static let notificationRedriveRequested = MessageType(rawValue: "notification.redrive.requested")
    /// The answer to a re-drive of notifications.
    public static let notificationRedriveAnswered = MessageType(rawValue: "notification.redrive.answered")
    /// A chain of certificates was seen: whether Apple has revoked it should be found out.
    public static let chainCheckRequested = MessageType(rawValue: "chain.check.requested")
    /// It was found out.
    public static let chainChecked = MessageType(rawValue: "chain.checked")
    /// Question: the chains of certificates that sign for us.
    public static let chainsRequested = MessageType(rawValue: "chains.requested")
    /// The answer to it.
    public static let chainsAnswered = MessageType(rawValue: "chains.answered")
    /// A receipt that cannot be judged here: Apple should be asked.
    public static let receiptCheckRequested = MessageType(rawValue: "receipt.check.requested")
    /// A user gives or withdraws consent to telling Apple how much of a purchase they used.
    public static let consentChangeRequested = MessageType(rawValue: "consent.change.requested")
    /// A user's word about it is on record.
    public static let consentChanged = MessageType(rawValue: "consent.changed")
    /// Question: whether a user's consent is in force.
    public static let consentRequested = MessageType(rawValue: "consent.requested")
    /// The answer to both.
    public static let consentAnswered = MessageType(rawValue: "consent.answered")
    /// Question: what Apple may be told about the use of a purchase.
    public static let consumptionAssessmentRequested = MessageType(rawValue: "consumption.assessment.requested")
    /// The answer to it.
    public static let consumptionAssessmentAnswered = MessageType(rawValue: "consumption.assessment.answered")
    /// Question: consumption requests whose time runs out.
    public static let consumptionDeadlinesRequested = MessageType(rawValue: "consumption.deadlines.requested")
    /// The answer to it.
    public static let consumptionDeadlinesAnswered = MessageType(rawValue: "consumption.deadlines.answered")
    /// An operator has a user forgotten.
    public static let userEraseRequested = MessageType(rawValue: "user.erase.requested")
    /// The answer to it.
    public static let userEraseAnswered = MessageType(rawValue: "user.erase.answered")
    /// A customer has no user any more.
    public static let userErased = MessageType(rawValue: "user.erased")
    /// Verification asks itself to go on forgetting a user.
    public static let evidenceEraseRequested = MessageType(rawValue: "evidence.erase.requested")
    /// A guest has registered.
    public static let userTransferRequested = MessageType(rawValue: "user.transfer.requested")
    /// The answer to it.
    public static let userTransferAnswered = MessageType(rawValue: "user.transfer.answered")
    /// A guest's wallet has become a registered user's.
    public static let userTransferred = MessageType(rawValue: "user.transferred")
    /// An operator sweeps the sandbox out of an app's wallets.
    public static let sandboxSweepRequested = MessageType(rawValue: "sandbox.sweep.requested")
    /// What a page of it came to.
    public static let sandboxSweepAnswered = MessageType(rawValue: "sandbox.sweep.answered")
    /// A wallet was swept.
    public static let sandboxSwept = MessageType(rawValue: "sandbox.swept")
    /// Question: what was verified, page by page.
    public static let evidencePageRequested = MessageType(rawValue: "evidence.page.requested")
    /// A page of it.
    public static let evidencePageAnswered = MessageType(rawValue: "evidence.page.answered")
    /// Reconciliation wants a verified purchase said again, for whoever handed it in.
    public static let evidenceRedriveRequested = MessageType(rawValue: "evidence.redrive.requested")
    /// An operator wants a verified purchase decided anew, perhaps for a named user.
    public static let regrantRequested = MessageType(rawValue: "regrant.requested")
    /// Question: what became of purchases.
    public static let purchaseStatesRequested = MessageType(rawValue: "purchase.states.requested")
    /// The answer to it.
    public static let purchaseStatesAnswered = MessageType(rawValue: "purchase.states.answered")
    /// Question: do the books of a page of customers agree.
    public static let booksPageRequested = MessageType(rawValue: "books.page.requested")
    /// The answer to it.
    public static let booksPageAnswered = MessageType(rawValue: "books.page.answered")
    /// Question: which notifications have come in.
    public static let notificationStatesRequested = MessageType(rawValue: "notification.states.requested")
    /// The answer to it.
    public static let notificationStatesAnswered = MessageType(rawValue: "notification.states.answered")
    /// An operator wants a day compared.
    public static let reconciliationRunRequested = MessageType(rawValue: "reconciliation.run.requested")
    /// It is written down.
    public static let reconciliationRunAnswered = MessageType(rawValue: "reconciliation.run.answered")
    /// An operator lives with a finding.
    public static let findingAcceptRequested = MessageType(rawValue: "finding.accept.requested")
    /// An operator wants a finding's repair tried now.
    public static let findingRedriveRequested = MessageType(rawValue: "finding.redrive.requested")
    /// The answer to both.
    public static let findingAnswered = MessageType(rawValue: "finding.answered")
    /// An operator hands in what Apple counted as sold.
    public static let salesImportRequested = MessageType(rawValue: "sales.import.requested")
    /// What came of it.
    public static let salesImportAnswered = MessageType(rawValue: "sales.import.answered")
    /// A lane parked the request: an operator has to look at it.
    public static let requestParked = MessageType(rawValue: "request.parked")
}

/// Reads and writes message bodies. Keys are sorted, so equal messages are equal bytes.
public enum MessageCoding {
    /// The JSON of `message`, keys sorted.
    public static func encode(_ message: some Message) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return [UInt8](try encoder.encode(message))
    }

    /// Reads `body` as `M`. Throws `DecodingError`; a lane parks what cannot be read.
    public static func decode<M: Message>(_ type: M.Type, from body: [UInt8]) throws -> M {
        try JSONDecoder().decode(type, from: Data(body))
    }
}
