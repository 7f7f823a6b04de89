import Messages
import Pipeline
import Postgres

/// Who is erased, as a lane knows it: in memory, read anew now and then. Belongs to one thread.
struct ErasedUsers {
    /// How old what is known may become. An erasure looks at nothing before every lane knows of it.
    static let maximumAge = Duration.seconds(2)

    private let maximumAge: Duration
    private var readAt: ContinuousClock.Instant?
    private var until: [[UInt8]: Int64] = [:]

    init(maximumAge: Duration = Self.maximumAge) { self.maximumAge = maximumAge }

    /// Reads what is new, if it is time.
    mutating func refresh(in transaction: inout Transaction) throws {
        let now = ContinuousClock.now
        if let readAt, readAt.duration(to: now) < maximumAge { return }
        for user in try ErasureTable.erased(recentOnly: readAt != nil, in: &transaction) {
            until[user.digest] = max(until[user.digest] ?? user.until, user.until)
        }
        readAt = now
    }

    /// Whether a user was erased after they had handed something in at `instant`.
    func isErased(_ user: UserID?, of app: AppID, at instant: Int64) -> Bool {
        guard !until.isEmpty, let user, let end = until[ErasureTable.digest(user, of: app)] else { return false }
        return instant <= end
    }

    /// The submission without its user, if that user was erased after they had handed it in at `instant`.
    func strip(_ submission: PurchaseSubmitted, at instant: Int64) -> PurchaseSubmitted {
        guard isErased(submission.userID, of: submission.app, at: instant) else { return submission }
        var copy = submission
        copy.userID = nil
        copy.identities = nil
        return copy
    }
}
