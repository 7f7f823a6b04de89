import HTTPServer
import JSON
import Messages
import Testing

@testable import Gateway

@Suite struct BodyTests {
    private struct Case: CustomTestStringConvertible, Sendable {
        let path: String
        let body: String
        let field: String?
        let reason: String
        var testDescription: String { "\(path) \(body.prefix(60)) → \(field ?? "body") \(reason)" }
    }

    private static let verify = "/api/iap/apple/verify"
    private static let cases: [Case] = [
        Case(path: verify, body: "", field: nil, reason: "json.unexpected_end"),
        Case(path: verify, body: "[]", field: nil, reason: "json.wrong_type"),
        Case(path: verify, body: "{", field: nil, reason: "json.unexpected_end"),
        Case(path: verify, body: "{} {}", field: nil, reason: "json.trailing_bytes"),
        Case(path: verify, body: #"{"orderNo":"a","orderNo":"b"}"#, field: nil, reason: "json.duplicate_key"),
        Case(path: verify, body: #"{"orderNo":"a\u0000"}"#, field: nil, reason: "json.nul_character"),
        Case(path: verify, body: #"{"signedTransactionInfo":"x"}"#, field: "orderNo", reason: "json.missing"),
        Case(
            path: verify, body: #"{"orderNo":null,"signedTransactionInfo":"x"}"#, field: "orderNo",
            reason: "json.missing"),
        Case(
            path: verify, body: #"{"orderNo":1,"signedTransactionInfo":"x"}"#, field: "orderNo",
            reason: "json.wrong_type"),
        Case(
            path: verify, body: #"{"orderNo":"","signedTransactionInfo":"x"}"#, field: "orderNo",
            reason: "json.out_of_range"),
        Case(
            path: verify, body: #"{"orderNo":"a\n","signedTransactionInfo":"x"}"#, field: "orderNo",
            reason: "json.out_of_range"),
        Case(path: verify, body: #"{"orderNo":"a"}"#, field: "signedTransactionInfo", reason: "json.missing"),
        Case(
            path: verify, body: #"{"orderNo":"a","signedTransactionInfo":{}}"#, field: "signedTransactionInfo",
            reason: "json.wrong_type"),
        Case(
            path: verify, body: #"{"orderNo":"a","signedTransactionInfo":" \n"}"#, field: "signedTransactionInfo",
            reason: "json.missing"),
        Case(
            path: "\(verify)-without-order", body: "{}", field: "signedTransactionInfo", reason: "json.missing"),
        Case(path: "/api/iap/orders", body: "{}", field: "appleProductId", reason: "json.missing"),
        Case(
            path: "/api/iap/orders", body: #"{"appleProductId":["a"]}"#, field: "appleProductId",
            reason: "json.wrong_type"),
        Case(
            path: "/api/iap/orders", body: #"{"appleProductId":"\#(String(repeating: "a", count: 129))"}"#,
            field: "appleProductId", reason: "json.out_of_range"),
    ]

    @Test(arguments: cases)
    private func `a malformed body is refused with the place of the error`(_ given: Case) async throws {
        let door = try TestDoor(Samples.everything)
        let response = try await door.send("POST", given.path, body: given.body)
        let body = try response.json
        #expect(response.status == 400)
        #expect(body["code"] == "MALFORMED_REQUEST")
        #expect(body["field"]?.stringValue == given.field)
        #expect(body["reason"]?.stringValue == given.reason)
        #expect(body["mayFinish"] == (given.path.hasPrefix(Self.verify) ? false : nil))
        #expect(door.asker.asked.isEmpty)
    }

    @Test(
        arguments: [
            (#""amount":5"#, #""amount":0"#, "amount", "json.out_of_range"),
            (#""amount":5"#, #""amount":-1"#, "amount", "json.out_of_range"),
            (#""amount":5"#, #""amount":1.0"#, "amount", "json.not_an_integer"),
            (#""amount":5"#, #""amount":9223372036854775808"#, "amount", "json.not_an_integer"),
            (#""amount":5"#, #""amount":"5""#, "amount", "json.wrong_type"),
            (#""amount":5,"#, "", "amount", "json.missing"),
            (#""userId":"user-1""#, #""userId":"""#, "userId", "json.out_of_range"),
            (#""userId":"user-1""#, #""userId":"a\u0007""#, "userId", "json.out_of_range"),
            (#""sourceId":"session-1","#, "", "sourceId", "json.missing"),
            (#""2026-11-30T09:05:07Z""#, "1796029507000", "deadline", "json.wrong_type"),
            (#""2026-11-30T09:05:07Z""#, #""tomorrow""#, "deadline", "json.wrong_type"),
            (#","deadline":"2026-11-30T09:05:07Z""#, "", "deadline", "json.missing"),
            (#""userId":"user-1""#, #""userId":"user-1","ammount":6"#, nil, "json.unknown_member"),
        ] as [(String, String, String?, String)])
    func `a spend with anything wrong or unknown is refused`(
        _ part: String, _ replacement: String, _ field: String?, _ reason: String
    ) async throws {
        let door = try TestDoor(Samples.everything)
        let body = Samples.consumeBody.replacing(part, with: replacement)
        #expect(body != Samples.consumeBody)
        let response = try await door.send(
            "POST", "/api/wallet/consume", body: body, token: try TestTokens.make("clouds", .service))
        #expect(response.status == 400)
        #expect(try response.json["field"]?.stringValue == field)
        #expect(try response.json["reason"]?.stringValue == reason)
        #expect(!response.text.contains("ammount"), "a stranger's text is not repeated")
        #expect(door.asker.asked.isEmpty)
    }

    @Test func `verify ignores unknown members and trusts none of them (A-108)`() async throws {
        let door = try TestDoor(Samples.everything)
        let body =
            #"{"productId":"pyy_danbing_999999","amount":1e99,"userId":"victim","nested":{"a":[1]},"#
            + Samples.verifyBody.dropFirst()
        #expect(try await door.send("POST", Self.verify, body: body).status == 200)
        #expect((door.asker.asked.first as? PurchaseSubmitted)?.userID == UserID("user-1"))
    }

    @Test func `white space around a signed transaction is cut off`() async throws {
        let door = try TestDoor(Samples.everything)
        let body = #"{"orderNo":"a","signedTransactionInfo":" \t\r\n a.b.c \n\u000b\u000c"}"#
        #expect(try await door.send("POST", Self.verify, body: body).status == 200)
        #expect((door.asker.asked.first as? PurchaseSubmitted)?.signedTransaction == "a.b.c")
    }

    @Test(
        arguments: [
            ("application/json", 200), ("Application/JSON; charset=UTF-8", 200),
            ("application/json;charset=\"utf-8\"", 200),
            ("text/plain", 415), ("application/json; charset=utf-16", 415), ("application/jsonx", 415), (nil, 415),
            ("application/x-www-form-urlencoded", 415), ("", 415),
        ] as [(String?, Int)])
    func `only JSON is accepted (S51)`(_ type: String?, _ status: Int) async throws {
        let door = try TestDoor(Samples.everything)
        let response = try await door.send("POST", Self.verify, body: Samples.verifyBody, contentType: type)
        #expect(response.status == status)
    }

    @Test func `a signed transaction may have 64 KiB and not a byte more (S09)`() async throws {
        let door = try TestDoor(Samples.everything)
        let longest = String(repeating: "a", count: 64 << 10)
        func body(_ jws: String) -> String { #"{"orderNo":"a","signedTransactionInfo":"\#(jws)"}"# }
        #expect(try await door.send("POST", Self.verify, body: body(longest)).status == 200)
        let response = try await door.send("POST", Self.verify, body: body(longest + "a"))
        #expect(response.status == 413)
        #expect(try response.json["field"] == "signedTransactionInfo")
        #expect(try response.json["maximumBytes"] == 65_536)
    }

    @Test(arguments: [(verify, 72 << 10), ("/api/iap/orders", 4 << 10)])
    func `a body longer than its call allows is refused before it is read`(_ path: String, _ limit: Int) async throws {
        let door = try TestDoor(Samples.everything)
        let response = try await door.send("POST", path, body: String(repeating: "[", count: limit + 1))
        #expect(response.status == 413)
        #expect(response.code == "PAYLOAD_TOO_LARGE")
        #expect(OrdersSurface.bodyLimit(path: "/games" + path) == limit)
    }
}
