/// Finds what a method and a path stand for. Pure: it neither knows requests nor calls anything.
///
/// Templates are paths with `{name}` segments, `/v1/orders/{orderNo}`. A literal segment wins over a parameter. HEAD
/// is answered by GET's endpoint where no HEAD was added.
public struct Router<Endpoint: Sendable>: Sendable {
    /// What was found.
    public enum Resolution: Sendable {
        /// An endpoint, with the values of the template's parameters.
        case found(Endpoint, parameters: [String: String])
        /// No template has this path: 404.
        case notFound
        /// The path exists with other methods: 405, with the value of `Allow`.
        case methodNotAllowed(allow: String)
    }

    private enum Segment: Sendable, Equatable {
        case literal(String)
        case parameter(String)

        var isLiteral: Bool {
            if case .literal = self { true } else { false }
        }
    }

    private struct Route: Sendable {
        let method: String
        let segments: [Segment]
        let endpoint: Endpoint
    }

    private var routes: [Route] = []

    /// A router without routes.
    public init() {}

    /// Adds a route. Templates start with `/`; routes added twice are found once, the first one.
    public mutating func add(_ method: String, _ template: String, _ endpoint: Endpoint) {
        let segments = Self.split(template).map { part -> Segment in
            if part.hasPrefix("{"), part.hasSuffix("}") {
                return .parameter(String(part.dropFirst().dropLast()))
            }
            return .literal(String(part))
        }
        routes.append(Route(method: method, segments: segments, endpoint: endpoint))
    }

    /// Finds the endpoint of a decoded path.
    public func resolve(method: String, path: String) -> Resolution {
        let parts = Self.split(path)
        let matching = routes.filter { Self.matches($0.segments, parts) }
        guard !matching.isEmpty else { return .notFound }
        // Of several templates the most literal one (from the left) is meant.
        let best = matching.reduce(matching[0]) { Self.isMoreLiteral($1.segments, than: $0.segments) ? $1 : $0 }
        let candidates = matching.filter { Self.haveSameShape($0.segments, best.segments) }
        let wanted =
            candidates.first { $0.method == method }
            ?? (method == "HEAD" ? candidates.first { $0.method == "GET" } : nil)
        guard let route = wanted else {
            var methods = Set(candidates.map(\.method))
            if methods.contains("GET") { methods.insert("HEAD") }
            return .methodNotAllowed(allow: methods.sorted().joined(separator: ", "))
        }
        var parameters: [String: String] = [:]
        for case (.parameter(let name), let part) in zip(route.segments, parts) {
            parameters[name] = String(part)
        }
        return .found(route.endpoint, parameters: parameters)
    }

    private static func split(_ path: String) -> [Substring] {
        path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
    }

    private static func matches(_ segments: [Segment], _ parts: [Substring]) -> Bool {
        guard segments.count == parts.count else { return false }
        return zip(segments, parts).allSatisfy { segment, part in
            switch segment {
            case .literal(let text): part.utf8.elementsEqual(text.utf8)
            case .parameter: !part.isEmpty
            }
        }
    }

    private static func isMoreLiteral(_ left: [Segment], than right: [Segment]) -> Bool {
        for (one, other) in zip(left, right) where one.isLiteral != other.isLiteral { return one.isLiteral }
        return false
    }

    private static func haveSameShape(_ left: [Segment], _ right: [Segment]) -> Bool {
        zip(left, right).allSatisfy { $0.isLiteral == $1.isLiteral }
    }
}
