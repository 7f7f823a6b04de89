import AppStoreServerAPI
import Crypto
import HTTPServer
import JOSE
import JSON
import TestSupport
import Testing

@Suite struct ServerAPIRequestTests {
    /// A call, and the request line and body that Apple documents for it.
    struct Golden: Sendable, CustomTestStringConvertible {
        let name: String
        let method: String
        let path: String
        var query: [String] = []
        var body = ""
        var answer = "{}"
        let call: @Sendable (inout AppStoreServerAPI) throws(ServerAPIError) -> Void
        var testDescription: String { name }
    }

    static let calls: [Golden] = [
        Golden(
            name: "transaction info", method: "GET", path: "/inApps/v1/transactions/1234",
            answer: #"{"signedTransactionInfo":"a"}"#
        ) { api throws(ServerAPIError) in _ = try api.transactionInfo("1234") },
        Golden(
            name: "history", method: "GET", path: "/inApps/v2/history/1234",
            query: [
                "startDate=1", "endDate=2", "productId=a b&c", "productType=CONSUMABLE", "sort=DESCENDING",
                "revoked=false", "revision=r/1",
            ]
        ) { api throws(ServerAPIError) in
            var query = HistoryQuery()
            (query.startDate, query.endDate, query.isDescending, query.isRevoked) = (1, 2, true, false)
            (query.productIDs, query.productTypes) = (["a b&c"], ["CONSUMABLE"])
            _ = try api.transactionHistory("1234", query, revision: "r/1")
        },
        Golden(name: "refunds", method: "GET", path: "/inApps/v2/refund/lookup/5", query: ["revision=x"]) {
            api throws(ServerAPIError) in _ = try api.refundHistory("5", revision: "x")
        },
        Golden(name: "subscriptions", method: "GET", path: "/inApps/v1/subscriptions/6") {
            api throws(ServerAPIError) in _ = try api.subscriptionStatuses("6")
        },
        Golden(name: "order", method: "GET", path: "/inApps/v1/lookup/W002182") {
            api throws(ServerAPIError) in _ = try api.lookUpOrder("W002182")
        },
        Golden(
            name: "test notification", method: "POST", path: "/inApps/v1/notifications/test",
            answer: #"{"testNotificationToken":"t"}"#
        ) { api throws(ServerAPIError) in _ = try api.requestTestNotification() },
        Golden(
            name: "test notification's fate", method: "GET", path: "/inApps/v1/notifications/test/t_1",
            answer: #"{"signedPayload":"a.b.c"}"#
        ) { api throws(ServerAPIError) in _ = try api.testNotificationStatus("t_1") },
        Golden(
            name: "notifications of a type", method: "POST", path: "/inApps/v1/notifications/history",
            query: ["paginationToken=p"],
            body: """
                {"startDate":1698148900000,"endDate":1698148950000,"notificationType":"SUBSCRIBED",\
                "notificationSubtype":"INITIAL_BUY","onlyFailures":true}
                """
        ) { api throws(ServerAPIError) in
            _ = try api.notificationHistory(
                NotificationHistoryQuery(
                    from: 1_698_148_900_000, to: 1_698_148_950_000,
                    filter: .type("SUBSCRIBED", subtype: "INITIAL_BUY"), onlyFailures: true), paginationToken: "p")
        },
        Golden(
            name: "notifications of a transaction", method: "POST", path: "/inApps/v1/notifications/history",
            body: #"{"startDate":1,"endDate":2,"transactionId":"999"}"#
        ) { api throws(ServerAPIError) in
            _ = try api.notificationHistory(NotificationHistoryQuery(from: 1, to: 2, filter: .transaction("999")))
        },
        Golden(
            name: "consumption", method: "PUT", path: "/inApps/v2/transactions/consumption/49571273",
            body: """
                {"customerConsented":true,"sampleContentProvided":false,"deliveryStatus":"DELIVERED",\
                "consumptionPercentage":50000,"refundPreference":"GRANT_PRORATED"}
                """, answer: ""
        ) { api throws(ServerAPIError) in
            guard
                let request = try? ConsumptionRequest(
                    sampleContentProvided: false, deliveryStatus: .delivered, consumptionPercentage: 50_000,
                    refundPreference: .grantProrated)
            else { throw .invalidArgument("consumption") }
            try api.sendConsumption(request, of: "49571273")
        },
        Golden(
            name: "consumption, older form", method: "PUT", path: "/inApps/v1/transactions/consumption/49571273",
            body: """
                {"customerConsented":true,"consumptionStatus":2,"platform":1,"sampleContentProvided":true,\
                "deliveryStatus":0,"appAccountToken":"","accountTenure":0,"playTime":0,"lifetimeDollarsRefunded":0,\
                "lifetimeDollarsPurchased":0,"userStatus":0,"refundPreference":3}
                """, answer: ""
        ) { api throws(ServerAPIError) in
            try api.sendConsumption(
                ConsumptionRequestV1(
                    appAccountToken: nil, sampleContentProvided: true, consumptionStatus: .partiallyConsumed,
                    deliveryStatus: .deliveredAndWorking, refundPreference: .noPreference), of: "49571273")
        },
    ]

    @Test(arguments: calls)
    func `every call is sent as Apple documents it`(_ golden: Golden) async throws {
        let request = try await StandIn.run([.json(golden.answer)]) { api, standIn in
            try golden.call(&api)
            return try #require(standIn.requests.first)
        }
        #expect(request.method == golden.method)
        #expect(request.path == golden.path)
        #expect(request.query.map { "\($0.name)=\($0.value)" } == golden.query)
        #expect(String(decoding: request.body, as: UTF8.self) == golden.body)
        #expect(request.header("Accept") == "application/json")
        #expect(request.header("Content-Type") == (golden.body.isEmpty ? nil : "application/json"))
    }

    @Test
    func `the token is ES256, back-dated, short-lived and in whole seconds`() async throws {
        let token = try await StandIn.run([.json(#"{"signedTransactionInfo":"a"}"#)]) { api, standIn in
            _ = try api.transactionInfo("1")
            return try #require(standIn.requests.first?.header("Authorization"))
        }
        #expect(token.hasPrefix("Bearer "))
        let jws = try CompactJWS(Array(token.dropFirst(7).utf8))
        #expect(
            try StandIn.key.get().publicKey().isValidSignature(
                try #require(Base64URL.decode(jws.signatureSegment)), for: Array(jws.signingInput)))
        let header = try jws.decodeHeader()
        #expect(header == ["alg": "ES256", "typ": "JWT", "kid": "ABCDEFGHIJ"])
        let claims = try JSONReader.parseObject(#require(Base64URL.decode(jws.payloadSegment)))
        #expect(
            claims == [
                "iss": "99b16628-15e4-4668-972b-eeff55eeff55", "iat": 1_699_999_940, "exp": 1_700_000_300,
                "aud": "appstoreconnect-v1", "bid": "com.example",
            ])
    }

    @Test(arguments: ["", "1/../../x", "12a", "-1", "1 ", "１", String(repeating: "1", count: 33)])
    func `an id that is not digits never becomes part of a path`(_ identifier: String) async throws {
        let sent = try await StandIn.run([.json("{}")]) { api, standIn in
            #expect(throws: ServerAPIError.invalidArgument("transaction id")) { try api.transactionInfo(identifier) }
            #expect(throws: ServerAPIError.invalidArgument("transaction id")) {
                try api.notificationHistory(NotificationHistoryQuery(from: 1, to: 2, filter: .transaction(identifier)))
            }
            return standIn.requests.count
        }
        #expect(sent == 0)
    }

    @Test(arguments: ["..", ".", ""])
    func `an order id cannot climb out of its path`(_ identifier: String) async throws {
        try await StandIn.run([.json("{}")]) { api, _ in
            _ = #expect(throws: ServerAPIError.invalidArgument("order id")) { try api.lookUpOrder(identifier) }
        }
    }

    @Test(
        arguments: [
            (ConsumptionRequest.DeliveryStatus.delivered, 100_001, nil, "consumption_percentage_out_of_range"),
            (.delivered, -1, nil, "consumption_percentage_out_of_range"),
            (.serverOutage, 1, nil, "undelivered_consumption_percentage_non_zero"),
            (.delivered, 0, ConsumptionRequest.RefundPreference.grantProrated, "prorated_needs_a_share"),
            (.delivered, 100_000, .grantProrated, "prorated_needs_a_share"),
            (.delivered, nil, .grantProrated, "prorated_needs_a_share"),
        ] as [(ConsumptionRequest.DeliveryStatus, Int64?, ConsumptionRequest.RefundPreference?, String)])
    func `what Apple would refuse about consumption cannot be made`(
        _ status: ConsumptionRequest.DeliveryStatus, _ share: Int64?, _ wish: ConsumptionRequest.RefundPreference?,
        _ mistake: String
    ) {
        let thrown = #expect(throws: ConsumptionRequest.Mistake.self) {
            try ConsumptionRequest(
                sampleContentProvided: false, deliveryStatus: status, consumptionPercentage: share,
                refundPreference: wish)
        }
        #expect(thrown?.rawValue == mistake)
    }
}
