import AppStoreServerAPI
import Crypto
import HTTPClient
import HTTPServer
import Runtime
import Synchronization
import TestSupport

/// A server that answers what a test wants and remembers what it was asked.
final class StandIn: Sendable {
    private struct State {
        var answers: [HTTPResponse]
        var requests: [HTTPRequest] = []
    }

    private let state: Mutex<State>

    private init(_ answers: [HTTPResponse]) { state = Mutex(State(answers: answers)) }

    /// What was asked, in order.
    var requests: [HTTPRequest] { state.withLock { $0.requests } }

    /// Runs `body` on a thread of its own with a client of a server that gives these answers, one a request; the last
    /// one again and again.
    static func run<Result: Sendable>(
        _ answers: [HTTPResponse], budget: RateBudget = RateBudget(), breaker: AuthorizationBreaker = .init(),
        _ body: @escaping @Sendable (inout AppStoreServerAPI, StandIn) throws -> Result
    ) async throws -> Result {
        try await onThread {
            let standIn = StandIn(answers)
            let server = try HTTPServer.start(.init(), bodyLimit: { _, _ in 1 << 20 }) { standIn.answer($0) }
            defer { server.stop(grace: .zero) }
            var configuration = AppStoreServerAPI.Configuration(baseURL: "http://127.0.0.1:\(server.port)/")
            // Only ends a test that fails.
            configuration.http.timeout = .seconds(60)
            var client = try AppStoreServerAPI.open(
                configuration, credentials, budget: budget, breaker: breaker, stop: StopSignal(),
                clock: { 1_700_000_000_000 })
            return try body(&client, standIn)
        }
    }

    private func answer(_ request: HTTPRequest) -> HTTPResponse {
        state.withLock { state in
            state.requests.append(request)
            return state.answers.count > 1 ? state.answers.removeFirst() : state.answers[0]
        }
    }

    static let key = Result { try P256.PrivateKey.generate() }

    private static var credentials: ServerAPICredentials {
        get throws {
            ServerAPICredentials(
                issuerID: "99b16628-15e4-4668-972b-eeff55eeff55", keyID: "ABCDEFGHIJ", bundleID: "com.example",
                key: try key.get())
        }
    }
}

extension HTTPResponse {
    /// A JSON answer.
    static func json(_ text: String, status: Int = 200, headers: [(String, String)] = []) -> HTTPResponse {
        HTTPResponse(
            status: status, headers: [("Content-Type", "application/json")] + headers, body: Array(text.utf8))
    }
}
