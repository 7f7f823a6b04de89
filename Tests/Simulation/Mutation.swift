/// A mistake that somebody could make one day. Each is made on purpose here, and the simulation has to find it.
enum Mutation: String, CaseIterable, Sendable {
    /// Customers are locked in no order.
    case customersUnsorted
    /// One lane locks transactions before customers.
    case transactionsBeforeCustomers
    /// Each message of a batch is decided on the state before the batch.
    case foldBroken
    /// Facts are stored in a transaction of their own, after the state's.
    case factsAfterCommit
    /// A batch's row of `unannounced` is retired before its facts are confirmed.
    case retiredBeforeConfirm
    /// The batch is acknowledged, then published.
    case acknowledgedBeforePublish
    /// The batch is acknowledged, then committed.
    case acknowledgedBeforeCommit
    /// A batch is ended while the one before it is not told yet: its acknowledgement covers both.
    case laterBatchEndedFirst
    /// A commit whose reply was lost is taken for failed: its messages are parked.
    case ambiguousCommitTakenForFailed
    /// A commit whose reply was lost is taken for done.
    case ambiguousCommitTakenForDone
    /// After a commit whose reply was lost only what is decided anew is told.
    case ambiguousCommitNotRecalled
    /// Whether a spend was decided before is not looked up.
    case spendIDNotChecked
    /// A refund takes its share without regard to what was taken so far.
    case clawbackByDelta
    /// Any statement counts as newer than the stored one.
    case olderStatementWins
    /// More is acknowledged than was handled.
    case acknowledgesEverythingDelivered
    /// What the broker returned counts as published.
    case returnsIgnored
    /// Purchases that wait are not asked for after an import.
    case heldNotRedriven
}
