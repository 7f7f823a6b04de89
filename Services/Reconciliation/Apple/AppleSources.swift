import Messages
import Pipeline

/// Whom the comparison with Apple asks, and to whom it hands in what was missed.
protocol AppleSources: StateSources {
    /// Which notifications have come in; throws `RequestError`.
    func notificationStates(of keys: [NotificationKey]) throws -> [NotificationState]
    /// Hands in what Apple signed, or has it told again: returns once the broker has it for good; throws `RequestError`.
    func handIn(_ feed: AppleFeed, as remedy: AppleFeed.Remedy) throws
}

extension BrokerSources: AppleSources {
    func notificationStates(of keys: [NotificationKey]) throws -> [NotificationState] {
        guard !keys.isEmpty else { return [] }
        return try ask(NotificationStatesRequested(keys: keys), expecting: NotificationStatesAnswered.self).states
    }

    func handIn(_ feed: AppleFeed, as remedy: AppleFeed.Remedy) throws {
        switch remedy {
        case .none: break
        case .notification: try tell(NotificationReceived(app: feed.app, signedPayload: feed.payload), feed.app)
        case .transaction:
            try tell(TransactionReceived(app: feed.app, signedTransaction: feed.payload), feed.app)
        case .redrive:
            guard let key = feed.notification else { break }
            try tell(
                NotificationRedriveRequested(
                    notificationUUIDs: [key.notificationUUID], environment: key.environment, notificationTypes: [],
                    actor: FindingStore.itself, isDryRun: false), feed.app)
        }
    }

    private func tell(_ message: some Message, _ app: AppID) throws {
        let context = context(app)
        try wait { [requester] in try await requester.tell(message, context: context) }
    }
}
