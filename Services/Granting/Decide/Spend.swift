import Messages

/// A decided spend. Every decision is a row, refusals too, and final: same id, same answer.
struct Spend: Sendable, Equatable {
    /// Whose, and the caller's id.
    var key: SpendKey
    /// The app.
    var app: AppID
    /// What was asked for.
    var asset: AssetID
    /// How much.
    var amount: Int64
    /// The decision.
    var outcome: SpendOutcome
    /// The code it was refused with.
    var code: AnswerCode?
    /// The last instant at which it could be decided in the caller's favour (ms since 1970).
    var deadline: Int64
    /// The asset's balance right after the decision.
    var balanceAfter: Int64
    /// The message that caused it.
    var cause: MessageID
}

/// A spend as its caller names it.
struct SpendKey: Hashable, Sendable {
    /// Whose wallet.
    var customer: CustomerID
    /// The caller's id.
    var sourceID: String

    /// Byte by byte, as PostgreSQL compares: ids that only look alike are two spends.
    static func == (left: Self, right: Self) -> Bool {
        left.customer == right.customer && left.sourceID.isSameBytes(as: right.sourceID)
    }

    /// Fits `==`.
    func hash(into hasher: inout Hasher) {
        hasher.combine(customer)
        sourceID.hashBytes(into: &hasher)
    }
}
