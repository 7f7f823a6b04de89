import HTTPServer
import JSON
import Messages
import Pipeline
import Testing

@testable import Gateway

@Suite struct RoutingTests {
    @Test(arguments: [
        ("clouds.example", "/api/wallet/balance", "clouds"), ("CLOUDS.example:8443", "/api/wallet/balance", "clouds"),
        ("clouds.example.", "/api/wallet/balance", "clouds"), ("clouds.example", "/games/api/wallet/balance", "games"),
        ("games.example", "/games/api/wallet/balance", "games"),
    ])
    func `host and prefix decide the app`(_ host: String, _ path: String, _ app: String) async throws {
        let door = try TestDoor(Samples.everything)
        let response = try await door.send("GET", path, token: try TestTokens.make(app), host: host)
        #expect(response.status == 200)
        #expect(door.asker.contexts.first?.app == AppID(app))
    }

    @Test func `an app's balance has its own assets only`() async throws {
        let door = try TestDoor { _, _ in BalanceAnswered(balances: []) }
        let token = try TestTokens.make("games")
        #expect(try await door.send("GET", "/games/api/wallet/balance", token: token).text == #"{"gems":0}"#)
    }

    @Test(
        arguments: [
            ("other.example", "/api/wallet/balance"), ("games.example", "/api/wallet/balance"),
            (nil, "/api/wallet/balance"),
            ("", "/"), ("games.example", "/gamesx/api/wallet/balance"), ("games.example", "/games"),
        ] as [(String?, String)])
    func `an unknown host or prefix is no app`(_ host: String?, _ path: String) async throws {
        let door = try TestDoor(Samples.everything)
        let response = try await door.send("GET", path, host: host)
        #expect(response.status == 404)
        #expect(response.code == "APP_NOT_FOUND")
    }

    @Test(arguments: [
        "/", "/api", "/api/iap/products/", "/API/iap/products", "/api/iap/transactions/", "/api/v1/points/packages",
        "/iap/verify", "/api/iap/apple/verify/x",
    ])
    func `routes of other surfaces and unknown paths are not found`(_ path: String) async throws {
        let door = try TestDoor(Samples.everything)
        let response = try await door.send("GET", path)
        #expect(response.status == 404)
        #expect(response.code == "NOT_FOUND")
    }

    @Test(arguments: [
        ("POST", "/api/iap/products", "GET, HEAD"), ("GET", "/api/iap/apple/verify", "POST"),
        ("DELETE", "/api/wallet/balance", "GET, HEAD"), ("PUT", "/api/wallet/consume", "POST"),
    ])
    func `another method is told which ones there are`(_ method: String, _ path: String, _ allow: String) async throws {
        let door = try TestDoor(Samples.everything)
        let response = try await door.send(method, path)
        #expect(response.status == 405)
        #expect(response.code == "METHOD_NOT_ALLOWED")
        #expect(response.header("Allow") == allow)
    }

    @Test(arguments: [
        (HTTPFailure.malformedRequest(.host), 400, "MALFORMED_REQUEST"), (.bodyTimeout, 408, "REQUEST_TIMEOUT"),
        (.bodyTooLarge(limit: 4_096), 413, "PAYLOAD_TOO_LARGE"),
        (.unsupportedContentEncoding, 415, "UNSUPPORTED_MEDIA_TYPE"), (.headersTooLarge, 431, "HEADERS_TOO_LARGE"),
        (.invalidResponse, 500, "INTERNAL_ERROR"), (.overloaded(.requests), 503, "SERVICE_BUSY"),
        (.overloaded(.bodyBytes), 503, "SERVICE_BUSY"), (.tooManyRequests, 429, "TOO_MANY_REQUESTS"),
        (.stopping, 503, "SERVICE_BUSY"),
        (.unsupportedVersion, 505, "HTTP_VERSION_NOT_SUPPORTED"),
    ])
    func `what the server itself refuses is a problem too`(_ failure: HTTPFailure, _ status: Int, _ code: String) throws
    {
        let door = try TestDoor()
        let response = door.door.refuse(failure)
        #expect(response.status == status)
        #expect(response.code == code)
        #expect(response.header("Content-Type") == "application/problem+json")
        #expect(response.header("X-Request-Id") == (try response.json["requestId"]?.stringValue))
        #expect((response.header("Retry-After") != nil) == [408, 429, 503].contains(status))
    }
}
