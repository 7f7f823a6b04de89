/// What one pass may still ask Apple about a place. Notifications go first; what is left is for everything else.
struct CallBudget {
    /// Calls that are left.
    private(set) var calls: Int
    /// When asking for the rest ends, however many calls are left: the next pass must not be kept waiting. Notifications
    /// have no such end.
    var deadline: ContinuousClock.Instant?

    init(calls: Int) { self.calls = calls }

    /// Whether nothing may be asked any more.
    var isUsedUp: Bool { calls <= 0 || deadline.map { ContinuousClock.now >= $0 } ?? false }

    /// Takes one call; false: there is none left.
    mutating func take() -> Bool {
        guard !isUsedUp else { return false }
        calls -= 1
        return true
    }
}
