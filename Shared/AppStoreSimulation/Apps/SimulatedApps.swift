import JSON
import Synchronization

/// The apps the simulator knows, each in a file of its own. Any thread; registering waits for the disk.
public final class SimulatedApps: Sendable {
    private let folder: String
    private let apps: Mutex<[String: SimulatedApp]>

    /// The apps kept in the folder `apps` of an existing state folder.
    public init(in directory: String) throws(StoreError) {
        folder = directory + "/apps"
        try DurableFile.makeDirectory(folder)
        var kept: [String: SimulatedApp] = [:]
        for name in try DurableFile.names(in: folder) {
            let path = "\(folder)/\(name)"
            guard let bytes = try DurableFile.read(path), let object = try? JSONReader.parseObject(bytes) else {
                throw .storage(path: path, problem: "holds no JSON object")
            }
            let app = try SimulatedApp(object)
            kept[app.bundleID] = app
        }
        apps = Mutex(kept)
    }

    /// Adds an app or replaces what is known of it, durably.
    public func register(_ app: SimulatedApp) throws(StoreError) {
        try DurableFile.write(JSONWriter.write(app.json), name: app.bundleID + ".json", in: folder)
        apps.withLock { $0[app.bundleID] = app }
    }

    /// The app with this bundle id.
    public subscript(bundleID: String) -> SimulatedApp? { apps.withLock { $0[bundleID] } }

    /// The apps whose server signs with this key: one key of a team may serve several apps.
    public func apps(keyID: String) -> [SimulatedApp] {
        apps.withLock { apps in apps.values.filter { $0.keyID == keyID } }
    }
}
