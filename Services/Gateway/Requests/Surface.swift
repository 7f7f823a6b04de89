import Apps
import HTTPServer
import JSON

/// The HTTP calls that the clients of one kind of app make. An app's file chooses it.
protocol Surface: Sendable {
    /// All calls.
    var endpoints: [(method: String, endpoint: Endpoint)] { get }
    /// A problem as this surface's documents call it; most are called the same everywhere.
    func translated(_ problem: Problem) -> Problem
    /// The longest body the server reads for `path`, whose app and prefix are not known yet; nil: none of its calls.
    static func bodyLimit(path: String) -> Int?
    /// The hand-written part of its OpenAPI description (JSON), see ``OpenAPIDocument``.
    static var description: [UInt8] { get }
}

extension Surface {
    func translated(_ problem: Problem) -> Problem { problem }
}

/// Every surface this version serves, by the name that apps' files use.
struct Surfaces: Sendable {
    private struct Served: Sendable {
        let surface: any Surface
        let router: Router<Endpoint>
        let document: OpenAPIDocument
    }

    private let served: [AppConfiguration.Surface: Served]
    /// The templates of all calls, each once.
    let routes: [String]

    /// Longest body in bytes of a path that no surface knows: it is answered 404, whatever it holds.
    private static let unknownBody = 4 << 10

    /// Serves `surfaces`, and to the clients of each also `shared`: what is there for every app.
    init(
        _ surfaces: [AppConfiguration.Surface: any Surface], shared: [(method: String, endpoint: Endpoint)]
    ) {
        var routes: Set<String> = []
        served = surfaces.mapValues { surface in
            let (endpoints, document) = Self.described(surface.endpoints + shared, by: type(of: surface).description)
            routes.formUnion(endpoints.map(\.endpoint.route))
            routes.formUnion(endpoints.flatMap { $0.endpoint.socket?.routes ?? [] })
            return Served(surface: surface, router: Router(endpoints), document: document)
        }
        self.routes = routes.sorted()
    }

    /// `endpoints` and the one that describes all of them, itself too.
    private static func described(
        _ endpoints: [(method: String, endpoint: Endpoint)], by description: [UInt8]
    ) -> (endpoints: [(method: String, endpoint: Endpoint)], document: OpenAPIDocument) {
        func all(_ answer: @escaping @Sendable (Call) -> JSONObject) -> [(method: String, endpoint: Endpoint)] {
            let describing = Endpoint(
                route: "/openapi.json", token: nil, bodyLimit: nil, subject: .other, answer: answer)
            return endpoints + [("GET", describing)]
        }
        let document = OpenAPIDocument(
            all { _ in [:] }, description: description, common: PackageResources.common_json)
        return (all { call in document.served(under: call.app.pathPrefix) }, document)
    }

    /// The description of a kind of app's calls; nil if none is served.
    func document(of surface: AppConfiguration.Surface) -> OpenAPIDocument? { served[surface]?.document }

    /// Finds a call of an app.
    func resolve(_ app: ServedApp, method: String, path: String) -> Router<Endpoint>.Resolution {
        served[app.surface]?.router.resolve(method: method, path: path) ?? .notFound
    }

    /// A problem in the words of an app's surface.
    func translated(_ problem: Problem, for app: AppConfiguration.Surface?) -> Problem {
        app.flatMap { served[$0] }?.surface.translated(problem) ?? problem
    }

    /// The longest body the server reads for `path`, whose app and surface are not known yet.
    static func bodyLimit(path: String) -> Int {
        let kinds: [any Surface.Type] = [OrdersSurface.self, PointsSurface.self, GameSurface.self]
        return NotificationSurface.bodyLimit(path: path) ?? kinds.compactMap { $0.bodyLimit(path: path) }.max()
            ?? unknownBody
    }
}
