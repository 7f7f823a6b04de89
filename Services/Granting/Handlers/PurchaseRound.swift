import Messages
import Pipeline

/// One batch of purchases: load, decide, save. Used for verified purchases, notifications and re-drives
/// alike.
struct PurchaseRound {
    /// A message and the purchase it is about; a receipt's message has several.
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
        for need in needs.purchases { if let user = need.user { needs.hear(user, at: need.at) } }
        var (books, callers) = try BookLoader.load(needs, &catalogs, in: &tables)
        var decisions: [Int: [PurchaseDecision]] = [:]
        for entry in entries {
            let need = entry.need
            let submission = Submission(
                cause: need.cause, app: need.app,
                caller: need.user.flatMap { callers.customer($0, at: need.at) } ?? need.customer,
                orderNumber: need.orderNumber, transaction: books.catalog(of: need.app).typed(need.transaction),
                notification: need.notification, expectation: need.expectation, identities: need.identities)
            decisions[entry.place, default: []].append(books.decide(submission))
        }
        for (place, decided) in decisions {
            let incoming = batch[place]
            let app = entries.first { $0.place == place }?.need.app
            outcomes[place] = .done(
                facts: try decided.flatMap(\.announcements).map {
                    try $0.fact(causedBy: incoming.header, app: app ?? AppID(""), at: books.now)
                }, reply: try incoming.reply(PurchaseAnswered.joined(decided.compactMap(\.answer))))
        }
        BookSaver.save(books, in: &tables)
    }
}
