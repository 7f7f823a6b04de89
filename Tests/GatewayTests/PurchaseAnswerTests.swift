import HTTPServer
import JSON
import Messages
import Pipeline
import Testing

@testable import Gateway

@Suite struct PurchaseAnswerTests {
    private let verify = "/api/iap/apple/verify"

    private func answer(_ answer: PurchaseAnswered, path: String? = nil) async throws -> TestDoor.Sent {
        let door = try TestDoor { _, _ in answer }
        return try await door.exchange("POST", path ?? verify, body: Samples.verifyBody)
    }

    @Test func `a granted purchase answers as the client's document shows (A-034)`() async throws {
        let sent = try await answer(Samples.granted)
        #expect(sent.response.status == 200)
        #expect(
            sent.response.text
                == (try compact(
                    """
                    {"status": "GRANTED", "transactionId": "2000000888888888", "appleProductId": "pyy_danbing_60",
                     "assetType": "DANBING", "grantAmount": 60, "balance": {"danbing": 260, "timeMinutes": 120}}
                    """)))
        #expect(sent.response.header("Content-Type") == "application/json")
    }

    @Test func `a repeated purchase answers with its id and the balance (A-036)`() async throws {
        let sent = try await answer(Samples.alreadyGranted)
        #expect(sent.response.status == 200)
        #expect(
            sent.response.text
                == #"{"status":"ALREADY_GRANTED","transactionId":"2000000888888888","#
                + #""balance":{"danbing":260,"timeMinutes":120}}"#)
    }

    @Test func `several assets are listed and the first stands where clients look for it`() async throws {
        var both = Samples.granted
        both.amounts.append(AssetAmount(asset: AssetID("TIME_MINUTES"), amount: 30))
        let body = try await answer(both).response.json
        #expect(body["assetType"] == "DANBING")
        #expect(body["grantAmount"] == 60)
        #expect(
            body["grants"] == [
                ["assetType": "DANBING", "grantAmount": 60], ["assetType": "TIME_MINUTES", "grantAmount": 30],
            ])
    }

    @Test(arguments: [(40_000, "40"), (33_333, "33.333"), (100_000, "100"), (1, "0.001")])
    func `a share taken back is told in per cent`(_ share: Int64, _ text: String) async throws {
        for var given in [Samples.granted, Samples.alreadyGranted] {
            given.revokedShare = share
            #expect(try await answer(given).response.text.contains(#""revokedPercent":\#(text),"#))
        }
    }

    @Test func `assets never held show as 0 and assets only the catalogue knows by their id (A-038)`() async throws {
        var given = Samples.granted
        given.balances = [AssetAmount(asset: AssetID("NEW"), amount: 7)]
        let body = try await answer(given).response.json
        #expect(body["balance"] == ["danbing": 0, "timeMinutes": 0, "NEW": 7])
    }

    /// What is decided about a purchase of this surface.
    static let codes = AnswerCode.allCases.filter {
        !OpenAPITests.notOfPurchases.union(OpenAPITests.ofExpectations).contains($0)
    }

    @Test(arguments: codes, [PurchaseAnswered.Status.refused, .held])
    func `what is not delivered is a problem with its code and whether to finish`(
        _ code: AnswerCode, _ status: PurchaseAnswered.Status
    ) async throws {
        for mayFinish in [true, false] {
            let response = try await answer(
                PurchaseAnswered(status: status, code: code, reason: "some_reason", mayFinish: mayFinish)
            ).response
            let body = try response.json
            #expect(response.status == ProblemCatalog.entry(for: ProblemCode(code)).status)
            #expect(body["status"]?.intValue == Int64(response.status))
            #expect(body["code"]?.stringValue == code.rawValue)
            #expect(body["mayFinish"] == .bool(mayFinish))
            #expect(body["reason"]?.stringValue == (code == .appleTransactionVerifyFailed ? "some_reason" : nil))
            #expect(response.header("Content-Type") == "application/problem+json")
        }
    }

    @Test func `a pending purchase is never to be finished, whatever the answer says`() async throws {
        let response = try await answer(PurchaseAnswered(status: .pending, mayFinish: true)).response
        #expect(response.status == 503)
        #expect(response.code == "PURCHASE_PENDING")
        #expect(try response.json["mayFinish"] == false)
        #expect(response.header("Retry-After") == "2")
    }

    @Test(arguments: [
        (RequestError.timedOut, "PURCHASE_PENDING", "SERVICE_BUSY"),
        (.unreadableAnswer, "PURCHASE_PENDING", "SERVICE_BUSY"),
        (.overloaded, "SERVICE_BUSY", "SERVICE_BUSY"),
        (.brokerUnavailable(reason: "alarm at 10.0.0.1"), "SERVICE_BUSY", "SERVICE_BUSY"),
        (.parked(reason: "poison"), "UNDER_REVIEW", "UNDER_REVIEW"),
    ])
    func `without an answer the client is told to come again and not to finish`(
        _ error: RequestError, _ purchase: String, _ other: String
    ) async throws {
        let door = try TestDoor { _, _ in throw error }
        for path in [verify, "/api/iap/apple/verify-without-order"] {
            let response = try await door.send("POST", path, body: Samples.verifyBody)
            #expect(response.status == 503)
            #expect(response.code == purchase)
            #expect(try response.json["mayFinish"] == false)
            #expect(response.header("Retry-After") != nil)
            #expect(!response.text.contains("10.0.0.1"), "errors carry no internals")
        }
        let balance = try await door.send("GET", "/api/wallet/balance")
        #expect(balance.status == 503)
        #expect(balance.code == other)
        #expect(try balance.json["mayFinish"] == nil)
    }

    @Test func `the question carries the token's user, the order, the JWS and the request id`() async throws {
        let sent = try await answer(Samples.granted)
        #expect(
            sent.door.asker.asked.first as? PurchaseSubmitted
                == PurchaseSubmitted(
                    app: AppID("clouds"), userID: UserID("user-1"), orderNumber: OrderNumber("IAP202605250001"),
                    signedTransaction: "eyJhbGciOiJFUzI1NiJ9.e30.c2ln"))
        let context = try #require(sent.door.asker.contexts.first)
        #expect(context.app == AppID("clouds"))
        #expect(context.correlationID == sent.response.header("X-Request-Id"))
        #expect(context.patience == .seconds(5))
    }

    @Test func `verify-without-order names no order, whatever the body says (A-041)`() async throws {
        let sent = try await answer(Samples.granted, path: "/api/iap/apple/verify-without-order")
        #expect(sent.response.status == 200)
        #expect((sent.door.asker.asked.first as? PurchaseSubmitted)?.orderNumber == nil)
    }
}

extension TestDoor {
    /// A request's answer together with the door that gave it.
    struct Sent {
        let door: TestDoor
        let response: HTTPResponse
    }

    func exchange(_ method: String, _ path: String, body: String?) async throws -> Sent {
        Sent(door: self, response: try await send(method, path, body: body))
    }
}
