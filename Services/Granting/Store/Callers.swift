import Messages

/// A name that means nobody, or somebody, up to an instant: what a user did before they were erased, or a guest before
/// they registered, may still be in a queue.
struct FormerUser: Sendable, Equatable {
    /// The name.
    var user: UserKey
    /// Whose wallet it was; nil: erased, nobody's.
    var customer: CustomerID?
    /// The last instant it meant that (ms since 1970). Later messages are a new login's.
    var until: Int64
}

/// Who the users of a batch are. The same name may be two people's: one before an erasure, another since.
struct Callers {
    private var current: [UserKey: CustomerID] = [:]
    /// Oldest first.
    private var former: [UserKey: [FormerUser]] = [:]

    /// Remembers who is who now.
    mutating func take(_ customers: [Customer]) {
        for customer in customers {
            guard let user = customer.userID else { continue }
            current[UserKey(app: customer.app, user: user)] = customer.id
        }
    }

    /// Remembers who was who.
    mutating func take(_ names: [FormerUser]) {
        for name in names {
            former[name.user, default: []].append(name)
            former[name.user]?.sort { $0.until < $1.until }
        }
    }

    /// Whose wallet `user` meant at an instant; nil: nobody's, they are erased.
    func customer(_ user: UserKey, at instant: Int64) -> CustomerID? {
        if let name = name(user, at: instant) { return name.customer }
        return current[user]
    }

    /// Everybody whom `user` may mean in this batch.
    func all(of user: UserKey) -> [CustomerID] {
        (former[user] ?? []).compactMap(\.customer) + [current[user]].compactMap { $0 }
    }

    /// Whether somebody who is heard of at an instant needs a row of their own first.
    func isNew(_ user: UserKey, at instant: Int64) -> Bool {
        current[user] == nil && name(user, at: instant) == nil
    }

    private func name(_ user: UserKey, at instant: Int64) -> FormerUser? {
        former[user]?.first { instant <= $0.until }
    }
}
