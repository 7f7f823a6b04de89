import Messages
import Pipeline

/// Runs what operators and Granting itself ask for (`granting.commands`): catalogue imports and re-drives.
///
/// Consecutive re-drives of a batch are decided together; imports one by one, each seeing the one before it.
struct RunCommands: Handler {
    /// A handler of commands.
    init() {}

    /// Handles a batch inside one transaction.
    mutating func handle(_ batch: [Incoming], in tables: inout some BookTables & ~Copyable) throws -> [Outcome] {
        var outcomes = batch.map { _ in Outcome.park(reason: Incoming.unreadable) }
        let imports = batch.contains { $0.header.type == .catalogImportRequested }
        // Before anything else is locked; re-drives in the same batch take the shared lock beside it.
        if imports { _ = try tables.run([.changeCatalog]) }
        var redrives: [(place: Int, key: TransactionKey)] = []
        for (place, incoming) in batch.enumerated() {
            if let request = incoming.read(PurchaseRedriveRequested.self) {
                let key = TransactionKey(environment: request.environment, transactionID: request.transactionID)
                redrives.append((place, key))
            } else if let request = incoming.read(CatalogImportRequested.self) {
                try Redrives.run(redrives, of: batch, &outcomes, in: &tables)
                redrives = []
                outcomes[place] = try ImportCatalog.run(request, incoming, in: &tables)
            }
        }
        try Redrives.run(redrives, of: batch, &outcomes, in: &tables)
        return outcomes
    }
}
