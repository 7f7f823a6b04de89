import Messages
import Pipeline

/// Runs what operators and Granting itself ask for (`granting.commands`): catalogue imports and re-drives.
///
/// Consecutive re-drives of a batch are decided together; imports one by one, each seeing the one before it.
struct RunCommands: Handler {
    /// A handler of commands.
    init() {}

    /// What a message asks for.
    enum Command {
        /// A held purchase is to be decided anew.
        case redrive(TransactionKey)
        /// A catalogue is to come into force.
        case importCatalog(CatalogImportRequested)
        /// A user's refunds are to count no more.
        case clearRisk(RiskClearRequested)
    }

    /// Handles a batch inside one transaction.
    mutating func handle(_ batch: [Incoming], in tables: inout some BookTables & ~Copyable) throws -> [Outcome] {
        try run(batch.map(read), of: batch, in: &tables)
    }

    /// Runs what the messages of a batch ask for; nil where one asks nothing readable.
    func run(
        _ commands: [Command?], of batch: [Incoming], in tables: inout some BookTables & ~Copyable
    ) throws -> [Outcome] {
        var outcomes = batch.map { _ in Outcome.park(reason: Incoming.unreadable) }
        let imports = batch.contains { $0.header.type == .catalogImportRequested }
        // Before anything else is locked; re-drives in the same batch take the shared lock beside it.
        if imports { _ = try tables.run([.changeCatalog]) }
        var redrives: [(place: Int, key: TransactionKey)] = []
        for (place, command) in commands.enumerated() {
            switch command {
            case .redrive(let key): redrives.append((place, key))
            case .importCatalog(let request):
                try Redrives.run(redrives, of: batch, &outcomes, in: &tables)
                redrives = []
                outcomes[place] = try ImportCatalog.run(request, batch[place], in: &tables)
            case .clearRisk(let request):
                outcomes[place] = try clearRisk(request, batch[place], in: &tables)
            case nil: continue
            }
        }
        try Redrives.run(redrives, of: batch, &outcomes, in: &tables)
        return outcomes
    }

    /// Puts an operator's word on record. Of a user the app does not know there is nothing to clear.
    private func clearRisk(
        _ request: RiskClearRequested, _ incoming: Incoming, in tables: inout some BookTables & ~Copyable
    ) throws -> Outcome {
        let user = UserKey(app: request.app, user: request.userID)
        guard let customer = try tables.run([.findCustomers([user])]).customers.first?.id else {
            return .done(facts: [], reply: try incoming.reply(RiskClearAnswered(isUnknownUser: true)))
        }
        tables.enqueue([.clearRisk(request, cause: incoming.header.id)])
        let fact = try Fact(
            RiskCleared(customer: customer, actor: request.actor), key: customer.rawValue, app: request.app,
            environment: nil, causedBy: incoming.header, occurredAt: WallClock.milliseconds)
        return .done(facts: [fact], reply: try incoming.reply(RiskClearAnswered()))
    }

    private func read(_ incoming: Incoming) -> Command? {
        if let request = incoming.read(PurchaseRedriveRequested.self) {
            return .redrive(TransactionKey(environment: request.environment, transactionID: request.transactionID))
        }
        if let request = incoming.read(RiskClearRequested.self) {
            let isUsable = [request.actor, request.reason].allSatisfy { !$0.isEmpty && $0.utf8.count <= 1_000 }
            return isUsable ? .clearRisk(request) : nil
        }
        return incoming.read(CatalogImportRequested.self).map { .importCatalog($0) }
    }
}
