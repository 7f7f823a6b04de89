import Messages

/// The owner of a wallet. One row stands for the whole wallet: who changes anything of it locks this row first.
struct Customer: Sendable, Equatable {
    /// Random UUID text, the only name of a person that facts carry.
    var id: CustomerID
    /// The app it belongs to.
    var app: AppID
    /// The login's user id; nil once erased.
    var userID: UserID?
    /// Which user that is as facts tell it: a hash under the database's own key; nil once erased.
    var digest: String?
}
