import Messages
import Pipeline

/// Brings a catalogue into force, all of it or nothing, and asks for held purchases to be decided anew.
enum ImportCatalog {
    /// Runs an import under the exclusive catalogue lock.
    static func run(
        _ request: CatalogImportRequested, _ incoming: Incoming, in tables: inout some BookTables & ~Copyable
    ) throws -> Outcome {
        let found = try tables.run([.imported(by: incoming.header.id), .stamps([request.app])])
        if let imported = found.imported {
            // Delivered before: the same answer, whatever came into force since.
            return try answer(incoming, version: imported.version, definition: imported.definition)
        }
        var current = Catalog.none
        if let (app, stamp) = found.stamps.first {
            current = try CatalogTables.read(app, version: stamp.version, in: &tables)
        }
        switch CatalogImport.decide(request, on: current) {
        case .refused(let problems):
            return try answer(incoming, version: current.version, definition: current.definition, problems: problems)
        case .unchanged:
            return try answer(incoming, version: current.version, definition: current.definition)
        case .accepted(let change):
            let facts = try accept(change, request, incoming, in: &tables)
            return try answer(incoming, version: change.version, definition: change.definition, facts: facts)
        }
    }

    private static func accept(
        _ change: CatalogImport.Change, _ request: CatalogImportRequested, _ incoming: Incoming,
        in tables: inout some BookTables & ~Copyable
    ) throws -> [Fact] {
        let entry = try CatalogTables.Entry(change, of: request, cause: incoming.header.id)
        tables.enqueue([.insertCatalog(entry), .insertProducts(entry), .insertAmounts(entry), .saveAssets(entry)])
        let now = WallClock.milliseconds
        // Facts name no users.
        var definition = change.definition
        (definition.policies.reviewers, definition.policies.testers) = ([], [])
        let imported = CatalogImported(
            catalogVersion: change.version, actor: request.actor, changedProducts: change.products.map(\.productID),
            definition: definition)
        let fact = try Fact(
            imported, key: request.app.rawValue, revision: change.version, app: request.app, environment: nil,
            causedBy: incoming.header, occurredAt: now)
        let affected = try Redrives.choose(for: change, of: request.app, in: &tables)
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
