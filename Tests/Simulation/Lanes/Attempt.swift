import Messages

@testable import Granting
@testable import Pipeline

/// A lane's transaction on a batch, as far as it has come: the handler's questions and writes, then the facts, in the
/// statements and the order of `FactStore.save`.
struct Attempt {
    /// What comes next.
    enum Phase { case handling, facts, announcing, retiring, recalling, ready, committing }

    let transaction: Int
    var phase = Phase.handling
    /// What the handler asked so far.
    var answers: [(count: Int, found: BookFindings)] = []
    /// The round trip under way.
    var changes: [BookChange] = []
    var queries: [BookQuery] = []
    var item = 0
    var found = BookFindings()
    /// Of the statement under way.
    var progress = Progress()

    var outcomes: [Outcome]?
    var facts: [Fact] = []
    var recalling: [MessageID] = []
    var inserted = 0
    /// Only stores facts, for a mutation.
    var isSecond = false
    var saved = FactStore.Saved()

    init(transaction: Int) { self.transaction = transaction }

    /// Whether a round trip is under way.
    var isAsking: Bool { item < changes.count + queries.count }

    /// Runs the next statement of the round trip as far as it gets.
    mutating func runStatement(on database: Database) {
        if item < changes.count { database.update(transaction) { $0.hasWritten = true } }
        let isDone =
            item < changes.count
            ? database.run(changes[item], for: transaction, &progress)
            : database.run(queries[item - changes.count], for: transaction, &progress, into: &found)
        guard isDone else { return }
        progress = Progress()
        item += 1
        guard !isAsking else { return }
        if !queries.isEmpty { answers.append((queries.count, found)) }
        (changes, queries, item, found) = ([], [], 0, BookFindings())
    }

    /// Runs the next statement about facts as far as it gets.
    mutating func runFactStatement(on database: Database, retiring published: [Int64]) {
        switch phase {
        case .facts:
            guard database.insert(facts, for: transaction, &progress, &inserted) else { return }
            progress = Progress()
            for fact in facts { saved.facts[fact.cause, default: []].append(fact) }
            phase = facts.isEmpty ? .retiring : .announcing
        case .announcing:
            saved.unannounced = database.announce(facts.map(\.id), for: transaction)
            phase = .retiring
        case .retiring:
            var rows = published
            if database.mutation == .retiredBeforeConfirm, let own = saved.unannounced { rows.append(own) }
            guard database.retire(rows.sorted(), for: transaction, &progress) else { return }
            progress = Progress()
            phase = .recalling
        case .recalling:
            recall(from: database)
            phase = .ready
        default: break
        }
    }

    private mutating func recall(from database: Database) {
        if inserted < facts.count {
            saved.facts = [:]
            let identifiers = Set(facts.map(\.id))
            merge(database.recall(for: transaction) { identifiers.contains($0.id) })
        }
        guard !recalling.isEmpty else { return }
        let causes = Set(recalling)
        merge(database.recall(for: transaction) { causes.contains($0.cause) })
    }

    private mutating func merge(_ found: [Fact]) {
        for fact in found where !(saved.facts[fact.cause] ?? []).contains(where: { $0.id == fact.id }) {
            saved.facts[fact.cause, default: []].append(fact)
        }
    }
}
