import Messages

/// What identifies a purchase for ever: Apple's transaction id within one of Apple's two books.
///
/// Never the text, signature or hash of a JWS: ECDSA signatures are malleable, verified content is not.
struct TransactionKey: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// Apple's book.
    var environment: StoreEnvironment
    /// The purchase within it.
    var transactionID: TransactionID

    /// The key of facts about this purchase, e.g. `Production/2000000888888888`.
    var description: String { "\(environment.rawValue)/\(transactionID)" }

    /// Lock order.
    static func < (left: Self, right: Self) -> Bool {
        (left.environment, left.transactionID) < (right.environment, right.transactionID)
    }
}

extension VerifiedTransaction {
    /// The purchase this statement is about.
    var key: TransactionKey { TransactionKey(environment: environment, transactionID: transactionID) }
}
