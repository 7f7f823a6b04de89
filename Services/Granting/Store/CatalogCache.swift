import Messages

/// The catalogues a lane has read, kept as long as they are in force. Lives on the lane's thread.
struct CatalogCache {
    private var entries: [AppID: (stamp: CatalogTables.Stamp, catalog: Catalog)] = [:]

    /// The catalogues that `stamps` say are in force; reads those that are not known.
    mutating func catalogs(
        inForce stamps: [(app: AppID, stamp: CatalogTables.Stamp)], in tables: inout some BookTables & ~Copyable
    ) throws -> [AppID: Catalog] {
        var catalogs: [AppID: Catalog] = [:]
        for (app, stamp) in stamps {
            if let entry = entries[app], entry.stamp == stamp {
                catalogs[app] = entry.catalog
            } else {
                let catalog = try CatalogTables.read(app, version: stamp.version, in: &tables)
                entries[app] = (stamp, catalog)
                catalogs[app] = catalog
            }
        }
        return catalogs
    }
}
