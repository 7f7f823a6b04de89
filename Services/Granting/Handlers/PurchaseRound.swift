import Messages
import Pipeline

/// One batch of purchases: load, decide, save. Used for verified purchases, notifications and re-drives
/// alike.
struct PurchaseRound {
    /// A message and the purchase it is about.
    struct Entry {
        /// Where in the batch the message stands.
        var place: Int
        /// The purchase.
        var need: BookNeeds.PurchaseNeed
    }

    /// Decides `entries`, each seeing what the one before it left, and puts their outcomes into `outcomes`.
    static func run(
        _ entries: [Entry], of batch: [Incoming], _ catalogs: inout CatalogCache, _ outcomes: inout [Outcome],
        in tables: inout some BookTables & ~Copyable
    ) throws {
        guard !entries.isEmpty else { return }
        var needs = BookNeeds()
        needs.purchases = entries.map(\.need)
        var (books, callers) = try BookLoader.load(needs, &catalogs, in: &tables)
        for entry in entries {
            let need = entry.need
            let submission = Submission(
                cause: need.cause, app: need.app, caller: need.user.flatMap { callers[$0] } ?? need.customer,
                orderNumber: need.orderNumber, transaction: need.transaction, notification: need.notification)
            let decision = books.decide(submission)
            let incoming = batch[entry.place]
            outcomes[entry.place] = .done(
                facts: try decision.announcements.map {
                    try $0.fact(causedBy: incoming.header, app: need.app, at: books.now)
                }, reply: try incoming.reply(decision.answer))
        }
        BookSaver.save(books, in: &tables)
    }
}
