import Messages
import Pipeline

/// Grants verified purchases (`granting.purchases`).
///
/// A batch is one transaction: load what it is about, decide message by message, save. What a message finds already done
/// it answers from state, so duplicates and redeliveries change nothing. Lives on its lane's thread.
struct GrantPurchases: Handler {
    private var catalogs = CatalogCache()

    /// A handler that knows no catalogue yet.
    init() {}

    /// Handles a batch inside one transaction.
    mutating func handle(_ batch: [Incoming], in tables: inout some BookTables & ~Copyable) throws -> [Outcome] {
        try grant(batch.map { $0.read(PurchaseVerified.self) }, of: batch, in: &tables)
    }

    /// Grants what the messages of a batch say; nil where one says nothing readable.
    mutating func grant(
        _ purchases: [PurchaseVerified?], of batch: [Incoming], in tables: inout some BookTables & ~Copyable
    ) throws -> [Outcome] {
        var outcomes = batch.map { _ in Outcome.park(reason: Incoming.unreadable) }
        var entries: [PurchaseRound.Entry] = []
        for (place, verified) in purchases.enumerated() {
            guard let verified else { continue }
            for transaction in verified.transactions {
                let need = BookNeeds.PurchaseNeed(
                    cause: batch[place].header.id, app: verified.app,
                    user: verified.userID.map { UserKey(app: verified.app, user: $0) },
                    at: verified.submittedAt ?? batch[place].header.occurredAt, customer: nil,
                    orderNumber: verified.orderNumber, transaction: transaction.canonical,
                    expectation: verified.expectation?.canonical, identities: verified.identities)
                entries.append(PurchaseRound.Entry(place: place, need: need))
            }
        }
        try PurchaseRound.run(entries, of: batch, &catalogs, &outcomes, in: &tables)
        return outcomes
    }
}

extension PurchaseExpectation {
    /// With its token as lower-case UUID text; what is no UUID is nobody's.
    var canonical: PurchaseExpectation {
        var copy = self
        if let token = appAccountToken { copy.appAccountToken = UUIDText.parse(token).map(UUIDText.format) ?? "" }
        return copy
    }
}

extension VerifiedTransaction {
    /// With its token as lower-case UUID text, compared as a value; what is no UUID is no token of ours.
    var canonical: VerifiedTransaction {
        guard let token = appAccountToken else { return self }
        var copy = self
        copy.appAccountToken = UUIDText.parse(token).map { UUIDText.format($0) }
        return copy
    }
}
