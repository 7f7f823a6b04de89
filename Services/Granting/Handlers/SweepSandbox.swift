import Messages
import Pipeline

/// Sweeps a page of an app's sandbox purchases out of the wallets, under the exclusive lock of decisions. Interrupted, or
/// run again, it goes on with what is left: what is swept is not found any more.
enum SweepSandbox {
    /// Purchases of a page: a few milliseconds, in which nothing else is decided.
    static let page: Int64 = 100

    /// Sweeps a page, or counts what it would take.
    static func run(
        _ request: SandboxSweepRequested, _ incoming: Incoming, in tables: inout some BookTables & ~Copyable
    ) throws -> Outcome {
        let cause = incoming.header.id
        let found = try tables.run([.answeredSweep(cause), .sweepable(request, limit: page), .clock])
        if let answered = found.answeredSweep { return .done(facts: [], reply: try incoming.reply(answered)) }
        let keys = found.sweepable
        var books = try load(keys, found, in: &tables)
        let decision = books.sweep(keys, request.sweep, cause)
        let answer = SandboxSweepAnswered(
            purchases: Int64(keys.count), amounts: decision.amounts,
            next: keys.count == Int(page) ? keys.last?.transactionID : nil)
        guard !request.isDryRun else { return .done(facts: [], reply: try incoming.reply(answer)) }
        BookSaver.save(books, in: &tables)
        tables.enqueue([.recordSweep(request, answer, cause: cause)] + (keys.isEmpty ? [] : [.markSwept(keys)]))
        return .done(
            facts: try decision.announcements.map {
                try $0.fact(causedBy: incoming.header, app: request.app, at: books.now)
            }, reply: try incoming.reply(answer))
    }

    private static func load(
        _ keys: [TransactionKey], _ found: BookFindings, in tables: inout some BookTables & ~Copyable
    ) throws -> Books {
        var books = Books(siblingOrderNumber: SiblingOrder.number)
        guard !keys.isEmpty else { return books }
        let customers = Set(found.owners).sorted()
        var wallets = try tables.run([
            .lockCustomers(customers), .accounts(customers), .grants(keys, chains: [], ownedBy: []),
            .lotsOfGrants(keys, chains: [], ownedBy: []),
        ])
        wallets.now = found.now
        books.takeAnew(wallets)
        books.take(over: wallets)
        return books
    }
}
