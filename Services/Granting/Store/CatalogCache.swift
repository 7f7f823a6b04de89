import Messages
import Postgres

/// The catalogues a lane has read, kept as long as they are in force. Lives on the lane's thread.
struct CatalogCache {
    private var entries: [AppID: (stamp: CatalogTables.Stamp, catalog: Catalog)] = [:]

    /// The catalogues that `rows` of ``CatalogTables/stamps(_:)`` say are in force; reads those that are not known.
    mutating func catalogs(inForce rows: Rows, in transaction: inout Transaction) throws -> [AppID: Catalog] {
        var catalogs: [AppID: Catalog] = [:]
        for row in rows {
            let (app, stamp) = try CatalogTables.stamp(row)
            if let entry = entries[app], entry.stamp == stamp {
                catalogs[app] = entry.catalog
            } else {
                let catalog = try CatalogTables.read(app, version: stamp.version, in: &transaction)
                entries[app] = (stamp, catalog)
                catalogs[app] = catalog
            }
        }
        return catalogs
    }
}
