import Messages
import Pipeline

/// Held purchases are decided anew when the reason may be gone: from the stored statement, for the stored submitter.
///
/// An import asks for the oldest ``window`` of them. Each re-drive that is decided asks for as many further ones as it
/// finds waiting, so the queue never holds more than a window, and all of them come round without a timer.
enum Redrives {
    /// Re-drives under way at once, at most: a second or so of work, and far below a queue that anybody would notice.
    static let window: Int64 = 1_000

    /// Marks and returns the oldest held purchases: whatever changed may have removed their reason. Also what an older
    /// version of the program held, and this one would not, comes round by this.
    static func choose(
        for change: CatalogImport.Change, of app: AppID, in tables: inout some BookTables & ~Copyable
    ) throws -> [TransactionKey] {
        try mark(app, change.version, window, in: &tables)
    }

    /// Decides re-drives, and asks for as many more.
    static func run(
        _ redrives: [(place: Int, key: TransactionKey)], of batch: [Incoming], _ outcomes: inout [Outcome],
        in tables: inout some BookTables & ~Copyable
    ) throws {
        guard !redrives.isEmpty else { return }
        var purchases: [TransactionKey: Purchase] = [:]
        let keys = Set(redrives.map(\.key)).sorted()
        for purchase in try tables.run([.transactions(keys)]).purchases { purchases[purchase.key] = purchase }
        var entries: [PurchaseRound.Entry] = []
        for (place, key) in redrives {
            outcomes[place] = .done(facts: [], reply: nil)
            // Delivered meanwhile, or bound to somebody in another way: nothing left to do.
            guard let purchase = purchases[key], purchase.heldReason != nil else { continue }
            entries.append(PurchaseRound.Entry(place: place, need: need(purchase, batch[place].header.id)))
        }
        // Catalogues read here may be this transaction's own, so they are not kept for later ones.
        var catalogs = CatalogCache()
        try PurchaseRound.run(entries, of: batch, &catalogs, &outcomes, in: &tables)
        try askForMore(redrives.map(\.place), purchases.values.map(\.app), of: batch, &outcomes, in: &tables)
    }

    /// A request to decide one held purchase anew; Granting sends it to itself.
    static func fact(
        _ key: TransactionKey, _ version: Int64, _ app: AppID, _ header: MessageHeader, at now: Int64
    ) throws -> Fact {
        try Fact(
            PurchaseRedriveRequested(transactionID: key.transactionID, environment: key.environment),
            key: key.description, revision: version, app: app, environment: key.environment, causedBy: header,
            occurredAt: now)
    }

    /// The stored purchase as if it was handed in again: for its owner, who needs no order to prove it, or for whoever
    /// handed it in, with the order they named.
    private static func need(_ purchase: Purchase, _ cause: MessageID) -> BookNeeds.PurchaseNeed {
        BookNeeds.PurchaseNeed(
            cause: cause, app: purchase.app, user: nil, customer: purchase.owner ?? purchase.submitter,
            orderNumber: purchase.owner == nil ? purchase.submittedOrder : nil, transaction: purchase.statement)
    }

    private static func askForMore(
        _ places: [Int], _ apps: [AppID], of batch: [Incoming], _ outcomes: inout [Outcome],
        in tables: inout some BookTables & ~Copyable
    ) throws {
        var places = places[...]
        for (app, stamp) in try tables.run([.stamps(Set(apps).sorted())]).stamps {
            let keys = try mark(app, stamp.version, Int64(places.count), in: &tables)
            for key in keys {
                guard let place = places.popFirst(), case .done(let facts, let reply) = outcomes[place] else { break }
                let more = try fact(key, stamp.version, app, batch[place].header, at: WallClock.milliseconds)
                outcomes[place] = .done(facts: facts + [more], reply: reply)
            }
        }
    }

    /// Marks up to `limit` held purchases as asked for on account of a version.
    private static func mark(
        _ app: AppID, _ version: Int64, _ limit: Int64, in tables: inout some BookTables & ~Copyable
    ) throws -> [TransactionKey] {
        guard limit > 0 else { return [] }
        let range = TransactionTable.HeldRange(
            app: app, version: version, reasons: CatalogImport.redrivenReasons, limit: limit)
        return try tables.run([.markHeld(range)]).marked
    }
}
