import FoundationEssentials
import HTTPServer
import JSON
import Messages
import Pipeline
import Testing

@testable import Gateway

/// Document C's calls in JSON.
@Suite struct GameTests {
    @Test func `a receipt goes to be verified for the caller, as it is (C-024 C-048)`() async throws {
        let door = try TestDoor(GameSamples.everything)
        let response = try await GameSamples.send(door, "POST", "/iap/verify", GameSamples.verifyBody)
        #expect(response.status == 200)
        #expect(
            response.text == """
                {"code":"OK","number":0,"msg":"granted","rewardId":2001,"productId":"com.ninjafall.gem_pack_1",\
                "finish":true,"amount":120,"balance":180,"transactionIds":["1","2"]}
                """)
        let question = try #require(door.asker.asked.first as? PurchaseSubmitted)
        #expect(question.app == AppID("game") && question.userID == UserID("user-1"))
        #expect(question.receipt == "MIIT" && question.productID == ProductID(GameSamples.product))
        #expect(question.signedTransaction.isEmpty)
        // The names of the .proto are taken too.
        let other = #"{"receipt":" MIIT\n","product_id":"com.ninjafall.gem_pack_1"}"#
        #expect(try await GameSamples.send(door, "POST", "/iap/verify", other).status == 200)
        #expect(door.asker.asked.last as? PurchaseSubmitted == question)
    }

    @Test func `a repetition of what was delivered is a success that delivers nothing (C-032 C-033)`() async throws {
        let door = try TestDoor { _, _ in GameSamples.answered(.alreadyGranted) }
        let json = try await GameSamples.send(door, "POST", "/iap/verify", GameSamples.verifyBody).json
        #expect(json["number"] == 0 && json["finish"] == true && json["amount"] == 0 && json["balance"] == 180)
    }

    static let refusals: [(PurchaseAnswered, Int, Int64, Bool)] = [
        (GameSamples.answered(.refused, .transactionAlreadyBound, mayFinish: false), 409, 20, false),
        (GameSamples.answered(.held, .sandboxNotAllowed, mayFinish: false), 403, 21, false),
        (GameSamples.answered(.held, .unknownAppleProductID, mayFinish: false), 404, 14, false),
        (GameSamples.answered(.held, .familySharedNotGranted), 409, 24, true),
        (GameSamples.answered(.refused, .transactionAlreadyRevoked), 409, 30, true),
        (
            GameSamples.answered(
                .refused, .appleTransactionVerifyFailed, reason: "chain_untrusted", mayFinish: false), 422, 40, false
        ),
        (
            GameSamples.answered(
                .refused, .appleTransactionVerifyFailed, reason: "product_not_in_receipt", mayFinish: false), 422, 41,
            false
        ),
        (GameSamples.answered(.held, .underReview, reason: "amount_overflow", mayFinish: false), 503, 13, false),
        (GameSamples.answered(.pending), 503, 10, false),
        (GameSamples.answered(.pending, .underReview), 503, 13, false),
        (GameSamples.answered(.refused), 503, 13, true),
    ]

    @Test(arguments: refusals)
    func `every other answer is a problem with its number and whether to finish (C-023 C-025)`(
        _ answer: PurchaseAnswered, _ status: Int, _ number: Int64, _ mayFinish: Bool
    ) async throws {
        let door = try TestDoor { _, _ in answer }
        let response = try await GameSamples.send(door, "POST", "/iap/verify", GameSamples.verifyBody)
        #expect(response.status == status)
        let json = try response.json
        #expect(json["number"] == .integer(number) && json["mayFinish"] == .bool(mayFinish))
        #expect((response.header("Retry-After") != nil) == (status == 503))
    }

    @Test func `no answer is kept and sent again, whatever the cause (C-037 C-047)`() async throws {
        for (error, number): (RequestError, Int64) in [
            (.timedOut, 10), (.unreadableAnswer, 10), (.overloaded, 11), (.parked(reason: "x"), 13),
        ] {
            let door = try TestDoor { _, _ in throw error }
            let json = try await GameSamples.send(door, "POST", "/iap/verify", GameSamples.verifyBody).json
            #expect(json["number"] == .integer(number) && json["mayFinish"] == false, "\(error)")
        }
    }

    @Test(arguments: [
        (#"{"productId":"p"}"#, "receipt"), (#"{"receipt":"MIIT"}"#, "productId"),
        (#"{"receipt":7,"productId":"p"}"#, "receipt"), (#"{"receipt":" ","productId":"p"}"#, "receipt"),
        (#"{"receipt":"MIIT","productId":""}"#, "productId"), (#"{"receipt":"MIIT","product_id":""}"#, "product_id"),
        (#"{"receipt":"MIIT","productId":"a\u0007"}"#, "productId"),
    ])
    func `a body that cannot be read is told which member is wrong`(_ body: String, _ field: String) async throws {
        let door = try TestDoor(GameSamples.everything)
        let response = try await GameSamples.send(door, "POST", "/iap/verify", body)
        #expect(response.status == 400 && door.asker.asked.isEmpty)
        let json = try response.json
        #expect(json["field"] == .string(field) && json["number"] == 50 && json["mayFinish"] == false)
    }

    @Test func `a receipt of a mebibyte passes, a longer one does not (S09)`() async throws {
        let door = try TestDoor(GameSamples.everything)
        func send(_ count: Int) async throws -> Int {
            let receipt = String(repeating: "A", count: count)
            let body = #"{"receipt":"\#(receipt)","productId":"p"}"#
            return try await GameSamples.send(door, "POST", "/iap/verify", body).status
        }
        #expect(try await send(ReceiptBody.longestReceipt) == 200)
        #expect(try await send(ReceiptBody.longestReceipt + 1) == 413)
        #expect(Surfaces.bodyLimit(path: "/iap/verify") == ReceiptBody.longestBody)
        #expect(Surfaces.bodyLimit(path: "/iap/history") < 8_192)
    }

    @Test func `receipts have a share of their own, and give it back (S42)`() async throws {
        let share = ReceiptShare(most: 2, mostBytes: 10)
        #expect(share.take(6) && !share.take(5) && share.take(4) && !share.take(0))
        share.leave(6)
        #expect(share.take(6))
        let full = ReceiptShare(most: 1, mostBytes: "MIIT".utf8.count)
        let door = try TestDoor(receipts: full, GameSamples.everything)
        #expect(full.take(1))
        let busy = try await GameSamples.send(door, "POST", "/iap/verify", GameSamples.verifyBody)
        #expect(busy.status == 503 && busy.code == "SERVICE_BUSY")
        #expect(try busy.json["reason"] == "receipts" && busy.json["mayFinish"] == false && busy.json["number"] == 11)
        full.leave(1)
        for _ in 1...3 {
            #expect(try await GameSamples.send(door, "POST", "/iap/verify", GameSamples.verifyBody).status == 200)
        }
    }

    @Test func `the history is the caller's, with refunds, and is read on by its cursor (C-027 C-028 C-065 C-067)`()
        async throws
    {
        let door = try TestDoor(GameSamples.everything)
        let first = try await GameSamples.send(door, "GET", "/iap/history", query: [("limit", "2")])
        let json = try first.json
        let cursor = try #require(json["nextCursor"]?.stringValue)
        let record = try compact(
            """
            {"transactionId":"504319184420155588","productId":"com.ninjafall.gem_pack_1","amount":120,
            "createdAt":1780000000,"refundedAt":1780000100,"refundedShare":50000,"sandbox":true}
            """)
        #expect(first.text.contains(record))
        #expect(json["records"]?.arrayValue?.count == 2)
        #expect(first.text.contains(#""createdAt":1770000000,"refundedAt":0,"refundedShare":0,"sandbox":false"#))
        _ = try await GameSamples.send(door, "GET", "/iap/history", query: [("cursor", cursor)])
        #expect(
            door.asker.asked.compactMap { $0 as? HistoryRequested } == [
                HistoryRequested(app: AppID("game"), userID: UserID("user-1"), limit: 2),
                HistoryRequested(app: AppID("game"), userID: UserID("user-1"), before: GameSamples.place, limit: 50),
            ])
    }

    @Test(arguments: [
        [("limit", "0")], [("limit", "101")], [("limit", "x")], [("limit", "-1")], [("cursor", "x")],
        [("cursor", "aGlzdG9yeS8xLzA")], [("cursor", LedgerPage.cursor(before: 7))],
        [("cursor", HistoryPage.cursor(before: GameSamples.place) + "=")],
    ])
    func `a page that is none is refused`(_ query: [(String, String)]) async throws {
        let door = try TestDoor(GameSamples.everything)
        let response = try await GameSamples.send(
            door, "GET", "/iap/history", query: query.map { (name: $0.0, value: $0.1) })
        #expect(response.status == 400 && door.asker.asked.isEmpty)
    }

    @Test func `cards are told with their end (C-016 C-017)`() async throws {
        let door = try TestDoor(GameSamples.everything)
        let response = try await GameSamples.send(door, "GET", "/iap/entitlements")
        #expect(response.status == 200 && response.text.contains(#""id":"monthly_card","active":true"#))
        let question = try #require(door.asker.asked.first as? EntitlementsRequested)
        #expect(question == EntitlementsRequested(app: AppID("game"), userID: UserID("user-1")))
    }

    @Test func `amounts beyond the message's 32 bits stop at the largest`() async throws {
        let door = try TestDoor { _, _ in
            var page = GameSamples.page
            page.purchases[0].amounts = GameSamples.diamonds(.max)
            return page
        }
        let response = try await GameSamples.send(door, "GET", "/iap/history")
        #expect(response.text.contains(#""amount":2147483647"#))
    }

    @Test func `nobody without a login token gets in, and the calls are there for this surface only (C-066)`()
        async throws
    {
        let door = try TestDoor(GameSamples.everything)
        for (method, path) in [
            ("POST", "/iap/verify"), ("GET", "/iap/history"), ("GET", "/iap/entitlements"), ("GET", "/iap/ws"),
        ] {
            let anonymous = try await door.send(method, path, body: "{}", token: nil, host: "game.example")
            #expect(anonymous.status == 401)
            #expect(try anonymous.json["number"] == 60)
            let foreign = try await door.send(method, path, body: "{}", host: "game.example")
            #expect(foreign.status == 401)
            #expect(try await door.send(method, path, body: "{}").status == 404)
        }
        #expect(door.asker.asked.isEmpty)
    }
}
