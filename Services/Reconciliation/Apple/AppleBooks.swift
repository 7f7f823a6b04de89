import Messages

/// What Intake and Granting have, as they said it.
struct AppleBooks {
    private var storedAt: [NotificationKey: Int64] = [:]
    private var known: Set<NotificationKey> = []
    private var states: [PurchaseKey: PurchaseState] = [:]

    /// Asks both; throws `RequestError`.
    static func read(
        notifications: [NotificationKey], purchases: [PurchaseKey], from sources: any AppleSources
    ) throws -> AppleBooks {
        var books = AppleBooks()
        let notifications = Array(Set(notifications))
        for start in stride(from: 0, to: notifications.count, by: NotificationStatesRequested.mostKeys) {
            let end = min(start + NotificationStatesRequested.mostKeys, notifications.count)
            for state in try sources.notificationStates(of: Array(notifications[start..<end])) {
                books.known.insert(state.key)
                books.storedAt[state.key] = state.storedAt
            }
        }
        books.states = try sources.allStates(of: Array(Set(purchases)))
        return books
    }

    /// When Intake stored a notification; nil: it has not.
    func storedAt(_ key: NotificationKey) -> Int64? { storedAt[key] }

    /// What Granting has of a purchase; nil: it was not asked about.
    func state(_ key: PurchaseKey) -> PurchaseState? { states[key] }

    /// What is to be done about a feed.
    func remedy(for feed: AppleFeed) -> AppleFeed.Remedy {
        // Who was not told about knows nothing.
        if let key = feed.notification, !known.contains(key) { return .none }
        return feed.remedy(
            storedAt: feed.notification.flatMap { storedAt[$0] }, state: feed.purchase.flatMap { states[$0] })
    }
}
