import HTTPServer
import JSON
import Messages
import Observability
import Pipeline
import Testing

@testable import Gateway

/// What Apple sends, and what others send in its place (A-017 A-039 A-040 A-049 A-135).
@Suite struct NotificationTests {
    private static let body = #"{"signedPayload":"eyJ.e30.c2ln"}"#
    private static let well: ScriptedAsker.Script = { message, _ in message }

    private static func count(_ door: TestDoor, _ outcome: String) -> Bool {
        door.metrics.render().contains("purser_gateway_notifications_total{outcome=\"\(outcome)\"} 1\n")
    }

    @Test(arguments: NotificationSurface.addresses, ["", "/games"])
    func `every address takes notifications without a login and answers 200 with nothing (A-017 A-039 A-040 A-049)`(
        address: String, prefix: String
    ) async throws {
        let door = try TestDoor(Self.well)
        let response = try await door.send("POST", prefix + address, body: Self.body, token: .some(nil))
        #expect(response.status == 200 && response.body.isEmpty)
        #expect(response.header("Content-Type") == nil)
        #expect(door.asker.asked.count == 1)
        let told = try #require(door.asker.asked.first as? NotificationReceived)
        #expect(told.app == AppID(prefix.isEmpty ? "clouds" : "games") && told.signedPayload == "eyJ.e30.c2ln")
        let context = try #require(door.asker.contexts.first)
        #expect(context.correlationID == response.header("X-Request-Id") && context.app == told.app)
        #expect(context.patience <= .seconds(2))
        #expect(Self.count(door, "received"))
        let line = try #require(try door.log.entries("request").first)
        #expect(line["http.route"]?.stringValue == address && line["remote.address"]?.stringValue == "192.0.2.7")
        #expect(!door.log.lines.joined().contains("eyJ"), "nothing of what was sent is logged (A-135)")
    }

    @Test func `the addresses of the three documents are all there (A-017)`() {
        #expect(
            NotificationSurface.addresses.sorted() == [
                "/api/apple/iap/notifications", "/api/apple/iap/notifications/sandbox",
                "/api/v1/payments/apple/notifications", "/apple/iap/notifications",
                "/apple/iap/notifications/sandbox", "/iap/notify",
            ])
    }

    @Test(arguments: ["text/plain", "application/json; charset=utf-8", "application/x-www-form-urlencoded"])
    func `a notification is not lost over its media type`(type: String) async throws {
        let door = try TestDoor(Self.well)
        #expect(try await door.send("POST", "/iap/notify", body: Self.body, contentType: type).status == 200)
    }

    /// What is sent, and what is said to it.
    private static let unusable: [(body: String, code: String, outcome: String)] = [
        ("", "MALFORMED_REQUEST", "unreadable"), ("garbage", "MALFORMED_REQUEST", "unreadable"),
        ("[]", "MALFORMED_REQUEST", "unreadable"), (body + body, "MALFORMED_REQUEST", "unreadable"),
        (#"{"signedPayload":"a","signedPayload":"b"}"#, "MALFORMED_REQUEST", "unreadable"),
        (#"{"signedPayload":"\u0000"}"#, "MALFORMED_REQUEST", "unreadable"),
        (String(repeating: "[", count: 200_000), "MALFORMED_REQUEST", "unreadable"),
        ("{}", "SIGNED_PAYLOAD_MISSING", "signed_payload_missing"),
        (#"{"signedPayload":""}"#, "SIGNED_PAYLOAD_MISSING", "signed_payload_missing"),
        (#"{"signedPayload":null}"#, "SIGNED_PAYLOAD_MISSING", "signed_payload_missing"),
        (#"{"signedPayload":{"a":1}}"#, "SIGNED_PAYLOAD_MISSING", "signed_payload_missing"),
        (
            #"{"notificationType":"REFUND","notificationUUID":"1","data":{}}"#, "SIGNED_PAYLOAD_MISSING",
            "signed_payload_missing"
        ),
        (
            #"{"notification_type":"REFUND","password":"x","unified_receipt":{"latest_receipt_info":[{}]}}"#,
            "NOTIFICATION_VERSION_UNSUPPORTED", "version_1"
        ),
        (
            #"{"notification_type":"DID_RENEW","unified_receipt":{"latest_receipt_info":["#
                + (1...500).map { #"{"product_id":"p","quantity":"\#($0)","transaction_id":"1"}"# }.joined(
                    separator: ",")
                + "]}}",
            "NOTIFICATION_VERSION_UNSUPPORTED", "version_1"
        ),
    ]

    @Test(arguments: unusable)
    func `what is no notification of version 2 gets 400, its own code and a line, and goes no further (A-135)`(
        body: String, code: String, outcome: String
    ) async throws {
        let door = try TestDoor(Self.well)
        let response = try await door.send("POST", "/apple/iap/notifications", body: body, token: .some(nil))
        #expect(response.status == 400 && response.code == code)
        #expect(door.asker.asked.isEmpty)
        #expect(Self.count(door, outcome))
        let lines = try door.log.entries(
            outcome == "version_1"
                ? "a version 1 notification was refused; choose version 2 in App Store Connect"
                : "what was sent to a notification address is no notification")
        #expect(lines.count == 1 && lines.first?["reason"]?.stringValue == outcome)
    }

    /// Why nothing was made durable.
    private static let away: [RequestError] = [
        .brokerUnavailable(reason: "away"), .overloaded, .timedOut,
        .brokerUnavailable(reason: "no queue takes it; is the topology imported?"),
    ]

    @Test(arguments: away)
    func `what could not be made durable gets 503, so that Apple sends it again`(error: RequestError) async throws {
        let door = try TestDoor { _, _ in throw error }
        let response = try await door.send("POST", "/iap/notify", body: Self.body, token: .some(nil))
        #expect(response.status == 503 && response.code == "SERVICE_BUSY" && response.header("Retry-After") == "1")
        #expect(try response.json["reason"]?.stringValue == error.code)
        #expect(Self.count(door, "unavailable"))
    }

    @Test(arguments: ["GET", "PUT", "HEAD"])
    func `nothing but POST is taken`(method: String) async throws {
        let door = try TestDoor(Self.well)
        #expect(try await door.send(method, "/iap/notify").status == 405)
    }

    @Test func `the addresses have a limit of their own, for all of them together, and a body of 256 KiB`() throws {
        var reader = SettingsReaderStub.reader(["NOTIFICATION_RATE": "1", "NOTIFICATION_BURST": "2"])
        let rules = NotificationSurface.rules(LimitSettings(&reader))
        let limits = AddressLimits(rules: rules, others: .ifLimited(perSecond: 1, burst: 1))
        let apple = try #require(IPAddress("17.1.2.3"))
        #expect(limits.take(apple, path: "/clouds/iap/notify") == .admitted)
        #expect(limits.take(apple, path: "/api/apple/iap/notifications/sandbox") == .admitted)
        #expect(limits.take(apple, path: "/iap/notify") != .admitted)
        #expect(limits.take(apple, path: "/api/wallet/balance") == .admitted, "the limit for clients is another")
        #expect(NotificationSurface.bodyLimit(path: "/clouds/iap/notify") == 262_144)
        #expect(NotificationSurface.bodyLimit(path: "/api/iap/apple/verify") == nil)
    }

    @Test func `a flood of garbage is no flood of lines`() async throws {
        let door = try TestDoor(Self.well)
        for _ in 0..<100 { _ = try await door.send("POST", "/iap/notify", body: "{}", token: .some(nil)) }
        let lines = try door.log.entries("what was sent to a notification address is no notification")
        // Ten a second; the test may take some seconds.
        #expect(lines.count < 60)
    }
}
