import HTTPServer

extension Router<Endpoint> {
    /// Finds the call of a method and a path.
    init(_ endpoints: [(method: String, endpoint: Endpoint)]) {
        self.init()
        for (method, endpoint) in endpoints { add(method, endpoint.route, endpoint) }
    }
}
