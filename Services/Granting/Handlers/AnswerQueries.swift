import Messages
import Pipeline
import Postgres

/// Answers questions about catalogue and wallets (`granting.queries`): one round trip for a batch, nothing locked,
/// nothing changed. Lives on its lane's thread.
struct AnswerQueries: Handler {
    /// A handler of questions.
    init() {}

    /// Rows of a page of ledger or history at most: an answer stays well below a message of 64 kB.
    static let largestPage: Int64 = 100

    private enum Question {
        case catalog(CatalogRequested)
        case balance(BalanceRequested)
        case ledger(LedgerRequested, limit: Int64)
        case transaction(TransactionRequested)
        case history(HistoryRequested, limit: Int64)
        case entitlements(EntitlementsRequested)
        case consent(ConsentRequested)
        case consumption(ConsumptionAssessmentRequested)
        case states(PurchaseStatesRequested)
        case books(BooksPageRequested, limit: Int64)
    }

    /// Handles a batch inside one transaction.
    mutating func handle(_ batch: [Incoming], in transaction: inout Transaction) throws -> [Outcome] {
        var outcomes = batch.map { _ in Outcome.park(reason: Incoming.unreadable) }
        let questions = batch.map(read)
        let asked = questions.indices.filter { questions[$0] != nil }
        let results = try transaction.pipeline(asked.compactMap { questions[$0].map(statement) })
        for (place, rows) in zip(asked, results) {
            guard let question = questions[place] else { continue }
            outcomes[place] = .done(facts: [], reply: try answer(question, rows, batch[place]))
        }
        return outcomes
    }

    private func read(_ incoming: Incoming) -> Question? {
        if let question = incoming.read(CatalogRequested.self) { return .catalog(question) }
        if let question = incoming.read(BalanceRequested.self) { return .balance(question) }
        if let question = incoming.read(LedgerRequested.self) {
            return .ledger(question, limit: min(max(question.limit, 1), Self.largestPage))
        }
        if let question = incoming.read(HistoryRequested.self) {
            return .history(question, limit: min(max(question.limit, 1), Self.largestPage))
        }
        if let question = incoming.read(EntitlementsRequested.self) { return .entitlements(question) }
        if let question = incoming.read(ConsentRequested.self) { return .consent(question) }
        if let question = incoming.read(ConsumptionAssessmentRequested.self) { return .consumption(question) }
        if let question = incoming.read(PurchaseStatesRequested.self) { return .states(question) }
        if let question = incoming.read(BooksPageRequested.self) {
            return .books(question, limit: min(max(question.limit, 1), BooksPageRequested.mostCustomers))
        }
        return incoming.read(TransactionRequested.self).map { .transaction($0) }
    }

    private func statement(_ question: Question) -> Statement {
        switch question {
        case .catalog(let question): QueryTables.catalog(question)
        case .balance(let question): QueryTables.balances(question)
        case .ledger(let question, let limit): QueryTables.ledger(question, limit: limit)
        case .history(let question, let limit): HistoryTables.read(question, limit: limit)
        case .transaction(let question): QueryTables.transactions(question)
        case .entitlements(let question): EntitlementTables.read(question)
        case .consent(let question): ConsentTable.read(question)
        case .consumption(let question): ConsumptionTables.read(question)
        case .states(let question) where question.withDetails == true: DetailTables.read(question)
        case .states(let question): StateTables.read(question)
        case .books(let question, let limit): BooksTables.read(question, limit: limit)
        }
    }

    private func answer(_ question: Question, _ rows: Rows, _ incoming: Incoming) throws -> Reply? {
        switch question {
        case .catalog: try incoming.reply(try QueryTables.catalog(rows))
        case .balance: try incoming.reply(try QueryTables.balances(rows))
        case .ledger(_, let limit): try incoming.reply(try QueryTables.page(rows, limit: limit))
        case .history(_, let limit): try incoming.reply(try HistoryTables.page(rows, limit: limit))
        case .entitlements: try incoming.reply(try EntitlementTables.answer(rows))
        case .consent: try incoming.reply(try ConsentTable.answer(rows))
        case .states(let question) where question.withDetails == true:
            try incoming.reply(try DetailTables.answer(rows))
        case .states: try incoming.reply(try StateTables.answer(rows))
        case .books(_, let limit): try incoming.reply(try BooksTables.answer(rows, limit: limit))
        case .consumption(let question):
            try incoming.reply(ConsumptionAssessment(try ConsumptionTables.facts(rows), of: question).answer)
        case .transaction:
            try incoming.reply(TransactionAnswered(transactions: try rows.map(QueryTables.summary)))
        }
    }
}
