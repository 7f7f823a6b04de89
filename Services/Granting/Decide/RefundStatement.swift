import Messages

/// What Apple said about the refund of a purchase, once: every such statement is kept, so the record is the same
/// whatever order they arrive in. The one with the newest `signedDate` is in force.
struct RefundStatement: Sendable, Equatable {
    /// The statement.
    var statement: VerifiedTransaction
    /// The notification that brought it; nil if a client or reconciliation did.
    var notification: NotificationSource?
    /// The message that brought it.
    var cause: MessageID

    /// The statement of a submission, if it tells of a refund.
    init?(_ submission: Submission) {
        let tells = submission.notification?.type.tellsOfRefund ?? false
        guard submission.transaction.revocationDate != nil || tells else { return nil }
        (statement, notification, cause) = (submission.transaction, submission.notification, submission.cause)
    }

    /// Whether both are the same signed text.
    func isSame(as other: RefundStatement) -> Bool {
        statement.key == other.statement.key && statement.signedDate == other.statement.signedDate
            && statement.payloadHash == other.statement.payloadHash
    }
}
