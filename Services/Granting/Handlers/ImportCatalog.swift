import Messages
import Pipeline
import Postgres

/// Brings a catalogue into force, all of it or nothing, and asks for held purchases to be decided anew.
enum ImportCatalog {
    /// Runs an import under the exclusive catalogue lock.
    static func run(
        _ request: CatalogImportRequested, _ incoming: Incoming, in transaction: inout Transaction
    ) throws -> Outcome {
        let found = try transaction.pipeline([
            CatalogTables.imported(by: incoming.header.id), CatalogTables.stamps([request.app]),
        ])
        if let row = found[0].first {
            // Delivered before: the same answer, whatever came into force since.
            return try answer(
                incoming, version: try row.int8("version"),
                definition: try CatalogTables.decode(try row.json("definition")))
        }
        var current = Catalog.none
        if let row = found[1].first {
            let (app, stamp) = try CatalogTables.stamp(row)
            current = try CatalogTables.read(app, version: stamp.version, in: &transaction)
        }
        switch CatalogImport.decide(request, on: current) {
        case .refused(let problems):
            return try answer(incoming, version: current.version, definition: current.definition, problems: problems)
        case .unchanged:
            return try answer(incoming, version: current.version, definition: current.definition)
        case .accepted(let change):
            let facts = try accept(change, request, incoming, in: &transaction)
            return try answer(incoming, version: change.version, definition: change.definition, facts: facts)
        }
    }

    private static func accept(
        _ change: CatalogImport.Change, _ request: CatalogImportRequested, _ incoming: Incoming,
        in transaction: inout Transaction
    ) throws -> [Fact] {
        _ = try transaction.pipeline(try CatalogTables.save(change, of: request, cause: incoming.header.id))
        let now = WallClock.milliseconds
        let imported = CatalogImported(
            catalogVersion: change.version, actor: request.actor, changedProducts: change.products.map(\.productID))
        let fact = try Fact(
            imported, key: request.app.rawValue, revision: change.version, app: request.app, environment: nil,
            causedBy: incoming.header, occurredAt: now)
        let affected = try Redrives.choose(for: change, of: request.app, in: &transaction)
        return [fact]
            + (try affected.map { try Redrives.fact($0, change.version, request.app, incoming.header, at: now) })
    }

    private static func answer(
        _ incoming: Incoming, version: Int64, definition: CatalogDefinition?, problems: [String] = [],
        facts: [Fact] = []
    ) throws -> Outcome {
        let answer = CatalogAnswered(catalogVersion: version, definition: definition, problems: problems)
        return .done(facts: facts, reply: try incoming.reply(answer))
    }
}
