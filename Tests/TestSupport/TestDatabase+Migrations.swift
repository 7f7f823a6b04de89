import Postgres
public import Service

/// A service's database as the deployment makes it.
extension TestDatabase {
    /// Makes the roles and the schema, and lets `purser_migrator`, who owns the schema, run the migrations.
    public func migrate(_ schema: String, _ migrations: [Migration]) throws {
        for role in ["purser_migrator", "purser_\(schema)", "purser_auditor"] { try createRole(role) }
        try execute("CREATE SCHEMA \(schema) AUTHORIZATION purser_migrator")
        var connection = try open(role: "purser_migrator")
        _ = try Migrator(schema: schema, migrations: migrations).run(on: &connection)
    }
}
