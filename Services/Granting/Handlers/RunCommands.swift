import Messages
import Pipeline

/// Runs what operators and Granting itself ask for (`granting.commands`): catalogue imports, re-drives, commands about
/// users, sweeps of the sandbox.
///
/// Consecutive re-drives of a batch are decided together; the others one by one, each seeing the one before it.
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
        /// A user is to be forgotten.
        case erase(UserEraseRequested)
        /// A guest's wallet is to become a registered user's.
        case transfer(UserTransferRequested)
        /// Sandbox purchases are to be swept.
        case sweep(SandboxSweepRequested)
    }

    /// What no decision may run beside: each takes milliseconds.
    private static let exclusive: Set<MessageType> = [
        .catalogImportRequested, .userEraseRequested, .userTransferRequested, .sandboxSweepRequested,
    ]

    /// Handles a batch inside one transaction.
    mutating func handle(_ batch: [Incoming], in tables: inout some BookTables & ~Copyable) throws -> [Outcome] {
        try run(batch.map(read), of: batch, in: &tables)
    }

    /// Runs what the messages of a batch ask for; nil where one asks nothing readable.
    func run(
        _ commands: [Command?], of batch: [Incoming], in tables: inout some BookTables & ~Copyable
    ) throws -> [Outcome] {
        var outcomes = batch.map { _ in Outcome.park(reason: Incoming.unreadable) }
        // Before anything else is locked; re-drives in the same batch take the shared lock beside it.
        if batch.contains(where: { Self.exclusive.contains($0.header.type) }) { _ = try tables.run([.changeCatalog]) }
        var redrives: [(place: Int, key: TransactionKey)] = []
        for (place, command) in commands.enumerated() {
            guard let command else { continue }
            if case .redrive(let key) = command {
                redrives.append((place, key))
                continue
            }
            try Redrives.run(redrives, of: batch, &outcomes, in: &tables)
            redrives = []
            outcomes[place] = try run(command, batch[place], in: &tables)
        }
        try Redrives.run(redrives, of: batch, &outcomes, in: &tables)
        return outcomes
    }

    private func run(
        _ command: Command, _ incoming: Incoming, in tables: inout some BookTables & ~Copyable
    ) throws -> Outcome {
        switch command {
        case .redrive: .done(facts: [], reply: nil)
        case .importCatalog(let request): try ImportCatalog.run(request, incoming, in: &tables)
        case .clearRisk(let request): try clearRisk(request, incoming, in: &tables)
        case .erase(let request): try ChangeUsers.erase(request, incoming, in: &tables)
        case .transfer(let request): try ChangeUsers.transfer(request, incoming, in: &tables)
        case .sweep(let request): try SweepSandbox.run(request, incoming, in: &tables)
        }
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
            return Self.areTexts(request.actor, request.reason) ? .clearRisk(request) : nil
        }
        if let request = incoming.read(UserEraseRequested.self) {
            return Self.areTexts(request.actor, request.reason) && Self.isID(request.userID) ? .erase(request) : nil
        }
        if let request = incoming.read(UserTransferRequested.self) {
            let isUsable =
                Self.areTexts(request.actor, request.reason) && UUIDText.parse(request.requestID) != nil
                && Self.isID(request.fromUserID) && Self.isID(request.toUserID)
                && request.fromUserID != request.toUserID
            return isUsable ? .transfer(request) : nil
        }
        if let request = incoming.read(SandboxSweepRequested.self) {
            return Self.areTexts(request.actor) && UUIDText.parse(request.sweep) != nil ? .sweep(request) : nil
        }
        return incoming.read(CatalogImportRequested.self).map { .importCatalog($0) }
    }

    /// What stays on record, in the length that people write.
    private static func areTexts(_ texts: String...) -> Bool {
        texts.allSatisfy { !$0.isEmpty && $0.utf8.count <= 1_000 }
    }

    private static func isID(_ user: UserID) -> Bool {
        !user.rawValue.isEmpty && user.rawValue.utf8.count <= DecideWallet.longestID
    }
}
