import HTTPServer
import JSON
import Messages
import Pipeline
import Testing

@testable import Gateway

/// The lines document C asks for, on every surface that takes purchases in.
@Suite struct PurchaseLogTests {
    private static let points = "/api/v1/payments/apple/transactions/verify"
    private static let pointsBody =
        #"{"productCode":"p","appStoreProductId":"com.example.p","transactionId":"2000000888888888","signedTransactionInfo":"a.b.c"}"#

    private static func send(
        _ app: String, user: String = "user-1", body: String? = nil, _ script: @escaping ScriptedAsker.Script
    ) async throws -> (door: TestDoor, response: HTTPResponse) {
        let door = try TestDoor(script)
        let isPoints = app == "points"
        let response = try await door.send(
            "POST", isPoints ? points : "/api/iap/apple/verify",
            body: body ?? (isPoints ? pointsBody : Samples.verifyBody), token: try TestTokens.make(app, subject: user),
            host: "\(app).example")
        return (door, response)
    }

    @Test(arguments: ["clouds", "points"])
    func `a purchase leaves what was asked and what was answered, with user, product and time (C-110 C-111)`(
        _ app: String
    ) async throws {
        let (door, response) = try await Self.send(app) { _, _ in Samples.granted }
        let asked = try #require(try door.log.entries("VerifyRequest").first)
        #expect(asked["user.id"] == "user-1" && asked["app"] == .string(app) && asked["time"] != nil)
        #expect(asked["correlation.id"]?.stringValue == response.header("X-Request-Id"))
        if app == "points" {
            #expect(asked["product.id"] == "com.example.p" && asked["transaction.id"] == "2000000888888888")
        }
        let told = try #require(try door.log.entries("VerifyResult").first)
        #expect(told["status"] == "GRANTED" && told["user.id"] == "user-1" && told["latency.ms"] != nil)
        #expect(told["product.id"] == "pyy_danbing_60" && told["transaction.id"] == "2000000888888888")
        #expect(try door.log.entries("DuplicateRequest").isEmpty)
    }

    @Test(arguments: ["clouds", "points"]) func `a purchase that was delivered before is a duplicate (C-114)`(
        _ app: String
    ) async throws {
        let (door, _) = try await Self.send(app) { _, _ in Samples.alreadyGranted }
        let line = try #require(try door.log.entries("DuplicateRequest").first)
        #expect(line["user.id"] == "user-1" && line["transaction.id"] == "2000000888888888")
        #expect(try door.log.entries("VerifyResult").first?["status"] == "ALREADY_GRANTED")
    }

    @Test func `a refusal is told by its code, and no answer too (C-111)`() async throws {
        let (refused, _) = try await Self.send("clouds") { _, _ in
            PurchaseAnswered(status: .refused, code: .transactionAlreadyBound, mayFinish: false)
        }
        let status = try refused.log.entries("VerifyResult").map { $0["status"]?.stringValue }
        #expect(status == ["TRANSACTION_ALREADY_BOUND_TO_OTHER_USER"])
        let (late, _) = try await Self.send("clouds") { _, _ in throw RequestError.timedOut }
        #expect(try late.log.entries("VerifyResult").map { $0["status"]?.stringValue } == ["PURCHASE_PENDING"])
    }

    @Test(arguments: ["anna@mail.example", "Anna Müller", "eyJhbGciOiJIUzI1NiJ9", "a\u{202E}b", "+49 151 2345"])
    func `a user id that may be an address, a name or a token is hashed, the same each time (C-115)`(_ user: String)
        async throws
    {
        let (door, _) = try await Self.send("points", user: user) { _, _ in Samples.alreadyGranted }
        let names = try ["VerifyRequest", "VerifyResult", "DuplicateRequest"].flatMap { try door.log.entries($0) }
            .compactMap { $0["user.id"]?.stringValue }
        #expect(names.count == 3 && Set(names).count == 1)
        #expect(names.allSatisfy { $0.hasPrefix("hashed:") && $0.count == 23 })
        #expect(!door.log.lines.joined().contains(user))
    }

    @Test func `what a client writes into an id and is none is not logged (C-115)`() async throws {
        let body = Self.pointsBody.replacing("com.example.p", with: "anna@mail.example")
            .replacing("2000000888888888", with: "canary")
        let (door, _) = try await Self.send("points", body: body) { _, _ in throw RequestError.timedOut }
        #expect(try door.log.entries("VerifyRequest").first?["product.id"] == nil)
        #expect(!door.log.lines.joined().contains("mail.example") && !door.log.lines.joined().contains("canary"))
    }
}
