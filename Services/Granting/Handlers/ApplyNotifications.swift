import Messages
import Pipeline

/// Makes the books reflect what Apple's notifications say (`granting.notifications`).
///
/// Each is its signed transaction, handed in by nobody: the newest statement of a transaction decides, so duplicates,
/// repetitions under another UUID and any order of arrival end in the same state. A batch is one transaction and a
/// constant number of round trips. Lives on its lane's thread.
struct ApplyNotifications: Handler {
    private var catalogs = CatalogCache()

    /// A handler that knows no catalogue yet.
    init() {}

    /// Handles a batch inside one transaction.
    mutating func handle(_ batch: [Incoming], in tables: inout some BookTables & ~Copyable) throws -> [Outcome] {
        try apply(batch.map { $0.read(NotificationVerified.self) }, of: batch, in: &tables)
    }

    /// Applies what the messages of a batch say; nil where one says nothing readable.
    mutating func apply(
        _ notifications: [NotificationVerified?], of batch: [Incoming], in tables: inout some BookTables & ~Copyable
    ) throws -> [Outcome] {
        var outcomes = notifications.map { notification in
            notification == nil ? Outcome.park(reason: Incoming.unreadable) : .done(facts: [], reply: nil)
        }
        var entries: [PurchaseRound.Entry] = []
        var renewals: [Renewal] = []
        for (place, notification) in notifications.enumerated() {
            guard let notification else { continue }
            if let renewal = Self.renewal(notification) { renewals.append(renewal) }
            guard let need = Self.need(notification, batch[place].header.id) else { continue }
            entries.append(PurchaseRound.Entry(place: place, need: need))
        }
        try PurchaseRound.run(entries, of: batch, &catalogs, &outcomes, in: &tables)
        // After everything that is locked: the last in the order, and sorted.
        if !renewals.isEmpty { tables.enqueue([.saveRenewals(Renewal.newest(renewals))]) }
        return outcomes
    }

    /// What it says about the next renewal; nothing in words of tomorrow.
    private static func renewal(_ notification: NotificationVerified) -> Renewal? {
        guard AppleNotificationType(rawValue: notification.notificationType) != nil else { return nil }
        return notification.renewal.map { Renewal(info: $0, app: notification.app) }
    }

    /// The purchase it speaks of; nil if it speaks of none, or in words of tomorrow: those change nothing until a version
    /// that knows them is told again.
    private static func need(_ notification: NotificationVerified, _ cause: MessageID) -> BookNeeds.PurchaseNeed? {
        guard let type = AppleNotificationType(rawValue: notification.notificationType), type.effect != .none,
            let transaction = notification.transaction
        else { return nil }
        return BookNeeds.PurchaseNeed(
            cause: cause, app: notification.app, user: nil, customer: nil, orderNumber: nil,
            transaction: transaction.canonical,
            notification: NotificationSource(uuid: notification.notificationUUID, type: type))
    }
}
