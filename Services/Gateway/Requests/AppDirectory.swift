import Messages

/// Finds the app a request is for, by its host and the start of its path.
struct AppDirectory: Sendable {
    /// Where an app is served.
    struct Place: Sendable {
        /// Host names in lower case, without port; empty = every host.
        let hosts: [String]
        /// What its paths start with, such as `/clouds`; empty = nothing in front.
        let pathPrefix: String
        /// The app.
        let app: ServedApp
    }

    private let places: [Place]

    /// A directory of `places`. Two apps never share host and prefix: the apps' configuration refuses that.
    init(_ places: [Place]) {
        // The longest prefix is meant where several fit, and a named host before every host.
        self.places = places.sorted {
            ($0.pathPrefix.utf8.count, $0.hosts.isEmpty ? 0 : 1) > ($1.pathPrefix.utf8.count, $1.hosts.isEmpty ? 0 : 1)
        }
    }

    /// How many places there are.
    var count: Int { places.count }

    /// The app with this id, if it is served.
    func app(_ id: AppID) -> ServedApp? { places.first { $0.app.id == id }?.app }

    /// The app and the path inside it, or nil. `host` is the value of the Host field.
    func find(host: String?, path: String) -> (app: ServedApp, path: String)? {
        guard let name = Self.hostName(host ?? "") else { return nil }
        for place in places where place.hosts.isEmpty || place.hosts.contains(name) {
            if let rest = Self.rest(of: path, after: place.pathPrefix) { return (place.app, rest) }
        }
        return nil
    }

    /// The host without port, in lower case and without the root's dot; nil if there is none.
    static func hostName(_ field: String) -> String? {
        var name = field[...]
        if name.hasPrefix("[") {
            guard let end = name.firstIndex(of: "]") else { return nil }
            name = name[...end]
        } else if let colon = name.firstIndex(of: ":") {
            name = name[..<colon]
        }
        if name.hasSuffix(".") { name = name.dropLast() }
        return name.isEmpty ? nil : name.lowercased()
    }

    private static func rest(of path: String, after prefix: String) -> String? {
        guard !prefix.isEmpty else { return path }
        guard path.hasPrefix(prefix) else { return nil }
        let rest = path.dropFirst(prefix.count)
        return rest.hasPrefix("/") ? String(rest) : nil
    }
}
