import HTTPServer
import JOSE
import JSON
import Messages
import Observability
import Testing

@testable import Gateway

@Suite struct AuthenticationTests {
    struct Route: CustomTestStringConvertible, Sendable {
        let method: String
        let path: String
        var body: String?
        var kind = TokenKind.login
        var testDescription: String { "\(method) \(path)" }
    }

    static let routes = [
        Route(method: "GET", path: "/api/iap/products"),
        Route(method: "POST", path: "/api/iap/orders", body: #"{"appleProductId":"pyy_danbing_60"}"#),
        Route(method: "POST", path: "/api/iap/apple/verify", body: Samples.verifyBody),
        Route(method: "POST", path: "/api/iap/apple/verify-without-order", body: Samples.verifyBody),
        Route(method: "GET", path: "/api/iap/transactions/2000000888888888"),
        Route(method: "GET", path: "/api/iap/entitlements"),
        Route(method: "GET", path: "/api/iap/consumption-consent"),
        Route(method: "PUT", path: "/api/iap/consumption-consent", body: "{}"),
        Route(method: "DELETE", path: "/api/iap/consumption-consent"),
        Route(method: "GET", path: "/api/wallet/balance"),
        Route(method: "GET", path: "/api/wallet/ledger"),
        Route(method: "POST", path: "/api/wallet/consume", body: Samples.consumeBody, kind: .service),
    ]

    @Test func `the matrix knows every call of the surface`() throws {
        let asker = ScriptedAsker { _, _ in RequestParked(reason: "") }
        let surface = OrdersSurface(asker: asker, security: SecurityLog(logger: .silent, metrics: .init()), now: { 0 })
        let known = Self.routes.map { "\($0.method) \($0.path.replacing("2000000888888888", with: "{transactionId}"))" }
        #expect(surface.endpoints.map { "\($0.method) \($0.endpoint.route)" }.sorted() == known.sorted())
    }

    @Test(arguments: routes)
    func `a good token of the right kind is let in`(_ route: Route) async throws {
        let door = try TestDoor(Samples.everything)
        let token = try TestTokens.make("clouds", route.kind)
        #expect(try await door.send(route.method, route.path, body: route.body, token: token).status == 200)
    }

    /// Every route with every kind of wrong token: S30, S34.
    @Test(arguments: routes)
    func `every other token is kept out`(_ route: Route) async throws {
        let kind = route.kind
        let wrong: [(token: String?, status: Int, code: String)] = [
            (nil, 401, "UNAUTHENTICATED"),
            ("nonsense", 401, "UNAUTHENTICATED"),
            (try TestTokens.make("clouds", kind, lifetime: -120), 401, "TOKEN_EXPIRED"),
            (try TestTokens.make("clouds", kind, secret: TestTokens.secret("games", kind)), 401, "UNAUTHENTICATED"),
            (try TestTokens.make("clouds", kind, audience: "games-login"), 401, "UNAUTHENTICATED"),
            (try TestTokens.make("games", kind), 401, "UNAUTHENTICATED"),
            (try TestTokens.make("clouds", kind.other), 403, "WRONG_TOKEN_KIND"),
            (try TestTokens.make("clouds", kind.other, lifetime: -120), 401, "TOKEN_EXPIRED"),
        ]
        for (token, status, code) in wrong {
            let door = try TestDoor(Samples.everything)
            let response = try await door.send(route.method, route.path, body: route.body, token: .some(token))
            #expect(response.status == status)
            #expect(response.code == code)
            #expect(response.header("WWW-Authenticate")?.hasPrefix("Bearer realm=\"purser\"") == true)
            #expect(door.asker.asked.isEmpty)
            #expect(door.metrics.render().contains("purser_gateway_authentication_failures_total{reason="))
        }
    }

    @Test(arguments: ["", "a\u{07}b", "a\u{85}b", String(repeating: "x", count: 129)])
    func `a token with an unusable subject is nobody's`(_ subject: String) async throws {
        let door = try TestDoor(Samples.everything)
        let token = try TestTokens.make(subject: subject)
        #expect(try await door.send("GET", "/api/wallet/balance", token: token).code == "UNAUTHENTICATED")
        let without = try TestTokens.make(subject: nil)
        #expect(try await door.send("GET", "/api/wallet/balance", token: without).code == "UNAUTHENTICATED")
    }

    @Test(arguments: ["用户", "a b", String(repeating: "x", count: 128)])
    func `any other subject is the user id as it stands`(_ subject: String) async throws {
        let door = try TestDoor(Samples.everything)
        #expect(
            try await door.send("GET", "/api/wallet/balance", token: try TestTokens.make(subject: subject)).status
                == 200)
        #expect((door.asker.asked.first as? BalanceRequested)?.userID == UserID(subject))
    }

    @Test(
        arguments: [
            (["Bearer abc"], "abc"), (["bearer abc"], "abc"), (["BEARER   abc"], "abc"), (["Basic abc"], nil),
            ([], nil),
            (["Bearer"], nil), (["Bearer "], nil), (["abc"], nil), (["Bearer a", "Bearer a"], nil),
        ] as [([String], String?)])
    func `one bearer token is read`(_ values: [String], _ token: String?) {
        #expect(Authenticator.bearerToken(values) == token)
    }

    @Test func `no token gets a challenge without an error code (RFC 6750)`() async throws {
        let door = try TestDoor()
        let response = try await door.send("GET", "/api/wallet/balance", token: .some(nil))
        #expect(response.header("WWW-Authenticate") == "Bearer realm=\"purser\"")
    }
}
