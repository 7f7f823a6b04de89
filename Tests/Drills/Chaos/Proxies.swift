import TestSupport

/// A proxy before the broker for each service, and one before the database for each that has one: what is half-open for
/// one service is whole for the others.
struct Proxies: Sendable {
    /// By service.
    let broker: [String: FaultyProxy]
    /// By service.
    let database: [String: FaultyProxy]

    init(_ site: Site, brokerPort: Int, databasePort: Int) throws {
        var broker: [String: FaultyProxy] = [:]
        var database: [String: FaultyProxy] = [:]
        for service in site.services { broker[service] = try FaultyProxy(port: brokerPort) }
        for store in site.stores { database[store] = try FaultyProxy(port: databasePort) }
        self.broker = broker
        self.database = database
    }

    /// The variables that make infra/scripts/service start each service behind its proxies.
    var variables: [String: [String: String]] {
        var variables: [String: [String: String]] = [:]
        for (service, proxy) in broker { variables[service, default: [:]]["PURSER_VIA_BROKER"] = String(proxy.port) }
        for (store, proxy) in database { variables[store, default: [:]]["PURSER_VIA_DATABASE"] = String(proxy.port) }
        return variables
    }
}
