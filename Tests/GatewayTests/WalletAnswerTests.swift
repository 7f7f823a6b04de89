import HTTPServer
import JSON
import Messages
import Testing

@testable import Gateway

@Suite struct WalletAnswerTests {
    @Test func `products answer as the client's document shows, in order, without disabled ones (A-020…A-022)`()
        async throws
    {
        let door = try TestDoor { _, _ in
            Samples.catalog([
                Samples.product("TIMECARD_60M", "pyy_timecard_60m", [("TIME_MINUTES", 60)], sort: 2),
                Samples.product("DANBING_680", "pyy_danbing_680", [("DANBING", 680)], sort: 0, isEnabled: false),
                Samples.product("DANBING_60", "pyy_danbing_60", [("DANBING", 60)], sort: 1),
            ])
        }
        let response = try await door.send("GET", "/api/iap/products")
        #expect(response.status == 200)
        #expect(
            response.text
                == (try compact(
                    """
                    {"products": [
                      {"productCode": "DANBING_60", "appleProductId": "pyy_danbing_60", "assetType": "DANBING",
                       "grantAmount": 60, "enabled": true, "sort": 1},
                      {"productCode": "TIMECARD_60M", "appleProductId": "pyy_timecard_60m",
                       "assetType": "TIME_MINUTES", "grantAmount": 60, "enabled": true, "sort": 2}]}
                    """)))
        #expect(door.asker.asked.first as? CatalogRequested == CatalogRequested(app: AppID("clouds")))
    }

    @Test func `without a catalogue nothing is on sale`() async throws {
        let door = try TestDoor { _, _ in CatalogAnswered(catalogVersion: 0, definition: nil, problems: []) }
        #expect(try await door.send("GET", "/api/iap/products").text == #"{"products":[]}"#)
    }

    @Test func `entitlements are told with their end, of subscriptions also what comes next (C-082)`() async throws {
        var gold = EntitlementState(
            name: "gold", environment: .production, isActive: true, status: .gracePeriod,
            productID: ProductID("monthly"))
        (gold.until, gold.willRenew, gold.renewsAs) = (1_780_000_000_000, true, ProductID("yearly"))
        let ever = EntitlementState(
            name: "vip", environment: .sandbox, isActive: true, status: .active, productID: ProductID("ever"))
        let answer = EntitlementsAnswered(entitlements: [gold, ever])
        let door = try TestDoor { _, _ in answer }
        let response = try await door.send("GET", "/api/iap/entitlements")
        #expect(
            response.text
                == (try compact(
                    """
                    {"entitlements": [
                      {"id": "gold", "active": true, "status": "GRACE_PERIOD", "environment": "PRODUCTION",
                       "appleProductId": "monthly", "until": "2026-05-28T20:26:40.000Z", "willRenew": true,
                       "renewsAs": "yearly"},
                      {"id": "vip", "active": true, "status": "ACTIVE", "environment": "SANDBOX",
                       "appleProductId": "ever"}]}
                    """)))
        #expect(door.asker.asked.first is EntitlementsRequested)
    }

    @Test func `consent is read, given and withdrawn by the caller, and answered with the word in force (A-116)`()
        async throws
    {
        let door = try TestDoor { question, _ in
            guard let change = question as? ConsentChangeRequested else {
                return ConsentAnswered(isGiven: false, termsVersion: nil, changedAt: nil)
            }
            return ConsentAnswered(
                isGiven: change.isGiven, termsVersion: change.termsVersion, changedAt: 1_780_000_000_000)
        }
        let path = "/api/iap/consumption-consent"
        #expect(try await door.send("GET", path).text == #"{"consented":false}"#)
        let given = try await door.send("PUT", path, body: #"{"termsVersion":"2026-11"}"#)
        #expect(
            given.text == #"{"consented":true,"termsVersion":"2026-11","changedAt":"2026-05-28T20:26:40.000Z"}"#)
        #expect(try await door.send("PUT", path, body: "{}").status == 200)
        let withdrawn = try await door.send("DELETE", path)
        #expect(withdrawn.text == #"{"consented":false,"changedAt":"2026-05-28T20:26:40.000Z"}"#)
        let changes = door.asker.asked.compactMap { $0 as? ConsentChangeRequested }
        #expect(changes.map(\.isGiven) == [true, true, false] && Set(changes.map(\.userID)).count == 1)
        for body in [#"{"termsVersion":""}"#, #"{"termsVersion":7}"#, "[]"] {
            #expect(try await door.send("PUT", path, body: body).status == 400, "\(body)")
        }
        #expect(try await door.send("POST", path, body: "{}").status == 405)
    }

    @Test func `an order answers as the client's document shows (A-027)`() async throws {
        let door = try TestDoor { _, _ in
            OrderAnswered(
                code: nil, orderNumber: OrderNumber("IAP202605250001"), productID: ProductID("pyy_danbing_60"),
                appAccountToken: "550e8400-e29b-41d4-a716-446655440000")
        }
        let response = try await door.send("POST", "/api/iap/orders", body: #"{"appleProductId":"pyy_danbing_60"}"#)
        #expect(response.status == 200)
        #expect(
            response.text
                == #"{"orderNo":"IAP202605250001","appleProductId":"pyy_danbing_60","#
                + #""appAccountToken":"550e8400-e29b-41d4-a716-446655440000"}"#)
    }

    @Test func `the gateway draws number and token, the user comes from the token (A-028, A-029)`() async throws {
        let door = try TestDoor(Samples.everything)
        let body = #"{"appleProductId":"pyy_danbing_60","userId":"victim","orderNo":"IAP1"}"#
        _ = try await door.send("POST", "/api/iap/orders", body: body)
        _ = try await door.send("POST", "/api/iap/orders", body: body)
        let asked = door.asker.asked.compactMap { $0 as? OrderRequested }
        #expect(asked.count == 2)
        #expect(Set(asked.map(\.orderNumber)).count == 2)
        #expect(Set(asked.map(\.appAccountToken)).count == 2)
        for order in asked {
            #expect(order.userID == UserID("user-1"))
            #expect(order.orderNumber.rawValue.wholeMatch(of: /IAP20260528[0-9]{12}/) != nil)
            #expect(
                order.appAccountToken.wholeMatch(
                    of: /[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/) != nil)
        }
    }

    @Test func `an order of a product not on sale is refused (A-030)`() async throws {
        let door = try TestDoor { _, _ in
            OrderAnswered(code: .unknownAppleProductID, orderNumber: nil, productID: nil, appAccountToken: nil)
        }
        let response = try await door.send("POST", "/api/iap/orders", body: #"{"appleProductId":"nothing"}"#)
        #expect(response.status == 404)
        #expect(response.code == "UNKNOWN_APPLE_PRODUCT_ID")
    }

    @Test func `a balance answers as the client's document shows, 0 for what was never held (A-038)`() async throws {
        let door = try TestDoor(Samples.everything)
        #expect(try await door.send("GET", "/api/wallet/balance").text == #"{"danbing":260,"timeMinutes":120}"#)
        let empty = try TestDoor { _, _ in BalanceAnswered(balances: []) }
        #expect(try await empty.send("GET", "/api/wallet/balance").text == #"{"danbing":0,"timeMinutes":0}"#)
        #expect(
            empty.asker.asked.first as? BalanceRequested
                == BalanceRequested(app: AppID("clouds"), userID: UserID("user-1")))
    }

    @Test func `a spend names the user in the body and answers with the balance after it (A-137)`() async throws {
        let door = try TestDoor(Samples.everything)
        let token = try TestTokens.make("clouds", .service, subject: "billing")
        let response = try await door.send("POST", "/api/wallet/consume", body: Samples.consumeBody, token: token)
        #expect(response.status == 200)
        #expect(
            response.text
                == #"{"status":"SPENT","sourceId":"session-1","assetType":"TIME_MINUTES","amount":5,"#
                + #""balanceAfter":115}"#)
        #expect(
            door.asker.asked.first as? SpendRequested
                == SpendRequested(
                    app: AppID("clouds"), userID: UserID("user-1"), asset: AssetID("TIME_MINUTES"), amount: 5,
                    sourceID: "session-1", deadline: 1_796_029_507_000))
    }

    @Test(
        arguments: [
            (SpendOutcome.notEnough, AnswerCode.timeNotEnough, 409), (.notEnough, .balanceNotEnough, 409),
            (.deadlinePassed, .spendDeadlinePassed, 422), (.unknownAsset, .unknownAsset, 422),
            (nil, .spendConflict, 409),
        ] as [(SpendOutcome?, AnswerCode, Int)])
    func `a spend that was refused is a problem with its code (A-091)`(
        _ outcome: SpendOutcome?, _ code: AnswerCode, _ status: Int
    ) async throws {
        let door = try TestDoor { _, _ in
            SpendAnswered(outcome: outcome, code: code, asset: nil, amount: nil, balanceAfter: 3)
        }
        let token = try TestTokens.make("clouds", .service, subject: nil)
        let response = try await door.send("POST", "/api/wallet/consume", body: Samples.consumeBody, token: token)
        #expect(response.status == status)
        #expect(response.code == code.rawValue)
        #expect(try response.json["balanceAfter"] == 3)
        #expect(try response.json["mayFinish"] == nil)
    }

    @Test func `a ledger page shows rows newest first and how to go on`() async throws {
        let door = try TestDoor { _, _ in
            LedgerAnswered(
                entries: [
                    LedgerEntry(
                        id: 9, asset: AssetID("DANBING"), direction: .into, amount: 60, balanceAfter: 260,
                        sourceType: "APPLE_IAP", sourceID: "2000000888888888/0",
                        remark: "Apple purchase: pyy_danbing_60", environment: .sandbox, createdAt: 1_779_000_000_007),
                    LedgerEntry(
                        id: 8, asset: AssetID("TIME_MINUTES"), direction: .out, amount: 5, balanceAfter: 120,
                        sourceType: "APP_USAGE", sourceID: "session-1", remark: nil, environment: nil,
                        createdAt: 1_779_000_000_000),
                ], nextBefore: 8)
        }
        let response = try await door.send("GET", "/api/wallet/ledger", query: [("limit", "2"), ("asset", "DANBING")])
        let body = try response.json
        #expect(
            body["entries"] == [
                [
                    "assetType": "DANBING", "direction": "IN", "amount": 60, "balanceAfter": 260,
                    "sourceType": "APPLE_IAP", "sourceId": "2000000888888888/0",
                    "remark": "Apple purchase: pyy_danbing_60", "environment": "SANDBOX",
                    "createdAt": "2026-05-17T06:40:00.007Z",
                ],
                [
                    "assetType": "TIME_MINUTES", "direction": "OUT", "amount": 5, "balanceAfter": 120,
                    "sourceType": "APP_USAGE", "sourceId": "session-1", "createdAt": "2026-05-17T06:40:00.000Z",
                ],
            ])
        let cursor = try #require(body["nextCursor"]?.stringValue)
        _ = try await door.send("GET", "/api/wallet/ledger", query: [("cursor", cursor)])
        #expect(
            door.asker.asked.compactMap { $0 as? LedgerRequested } == [
                LedgerRequested(
                    app: AppID("clouds"), userID: UserID("user-1"), asset: AssetID("DANBING"), before: nil, limit: 2),
                LedgerRequested(app: AppID("clouds"), userID: UserID("user-1"), asset: nil, before: 8, limit: 50),
            ])
    }

    @Test func `the last page has no cursor`() async throws {
        let door = try TestDoor(Samples.everything)
        #expect(try await door.send("GET", "/api/wallet/ledger").text == #"{"entries":[]}"#)
    }

    @Test(arguments: [
        ("limit", "0"), ("limit", "101"), ("limit", "ten"), ("limit", "1.0"), ("cursor", "8"),
        ("cursor", "bGVkZ2VyLzEvLTE"),
        ("cursor", "bGVkZ2VyLzEvKzg"), ("cursor", String(repeating: "A", count: 100)),
    ])
    func `a wrong page parameter is named`(_ name: String, _ value: String) async throws {
        let door = try TestDoor(Samples.everything)
        let response = try await door.send("GET", "/api/wallet/ledger", query: [(name, value)])
        #expect(response.status == 400)
        #expect(try response.json["field"]?.stringValue == name)
        #expect(door.asker.asked.isEmpty)
    }

    @Test func `a page of an asset the app does not have is refused`() async throws {
        let door = try TestDoor(Samples.everything)
        let response = try await door.send("GET", "/api/wallet/ledger", query: [("asset", "GEM")])
        #expect(response.status == 422)
        #expect(response.code == "UNKNOWN_ASSET")
    }

    @Test func `an own transaction is shown with what it granted`() async throws {
        let door = try TestDoor(Samples.everything)
        let response = try await door.send("GET", "/api/iap/transactions/2000000888888888")
        #expect(
            response.text
                == (try compact(
                    """
                    {"transactionId": "2000000888888888", "status": "GRANTED", "environment": "PRODUCTION",
                     "appleProductId": "pyy_danbing_60", "quantity": 1, "orderNo": "IAP202605250001",
                     "assetType": "DANBING", "grantAmount": 60, "purchaseDate": "2026-05-17T06:40:00.123Z",
                     "grantedAt": "2026-05-17T06:40:01.000Z"}
                    """)))
        #expect(
            door.asker.asked.first as? TransactionRequested
                == TransactionRequested(
                    app: AppID("clouds"), userID: UserID("user-1"), transactionID: TransactionID("2000000888888888")))
    }

    @Test(arguments: ["abc", "-1", "123456789012345678901", "1 2"])
    func `an id that Apple cannot have given is not found, unasked`(_ id: String) async throws {
        let door = try TestDoor(Samples.everything)
        let response = try await door.send("GET", "/api/iap/transactions/\(id)")
        #expect(response.status == 404)
        #expect(response.code == "TRANSACTION_NOT_FOUND")
        #expect(door.asker.asked.isEmpty)
    }

    @Test func `another user's transaction is not found (S34)`() async throws {
        let door = try TestDoor { _, _ in TransactionAnswered(transactions: []) }
        #expect(try await door.send("GET", "/api/iap/transactions/1").code == "TRANSACTION_NOT_FOUND")
    }
}
