import HTTPServer
import TestSupport
import Testing

@testable import AppStoreServerAPI

@Suite struct ServerAPIAnswerTests {
    @Test
    func `pages are read with their revision and token`() async throws {
        let history = #"{"revision":"r","hasMore":true,"bundleId":"com.example","signedTransactions":["a","b"]}"#
        let page = try await StandIn.run([.json(history)]) { api, _ in try api.transactionHistory("1") }
        #expect(page.signedTransactions == ["a", "b"])
        #expect(page.revision == "r")
        #expect(page.hasMore)
        let notifications = """
            {"paginationToken":"p","hasMore":false,"notificationHistory":[{"signedPayload":"one","sendAttempts":\
            [{"attemptDate":1698148900000,"sendAttemptResult":"NO_RESPONSE"},{"sendAttemptResult":"NEW_ONE"}]}]}
            """
        let list = try await StandIn.run([.json(notifications)]) { api, _ in
            try api.notificationHistory(NotificationHistoryQuery(from: 1, to: 2))
        }
        #expect(list.items.map(\.signedPayload) == ["one"])
        #expect(list.items[0].sendAttempts.map(\.result) == ["NO_RESPONSE", "NEW_ONE"])
        #expect(list.items[0].sendAttempts[0].attemptDate == 1_698_148_900_000)
        #expect(list.paginationToken == "p")
        #expect(!list.hasMore)
    }

    @Test
    func `the states of subscriptions and orders are read`() async throws {
        let statuses = """
            {"environment":"LocalTesting","data":[{"subscriptionGroupIdentifier":"g","lastTransactions":[\
            {"status":1,"originalTransactionId":"9","signedTransactionInfo":"t","signedRenewalInfo":"r"}]}]}
            """
        let read = try await StandIn.run([.json(statuses)]) { api, _ in try api.subscriptionStatuses("1") }
        #expect(read.map(\.status) == [1])
        #expect(read.map(\.originalTransactionID) == ["9"])
        let order = try await StandIn.run([.json(#"{"status":1,"signedTransactions":["a"]}"#)]) { api, _ in
            try api.lookUpOrder("W1")
        }
        #expect(!order.isValid)
        #expect(order.signedTransactions == ["a"])
    }

    /// Status, body, Apple's number, whether to try again.
    static let refusals: [(Int, String, Int64?, Bool)] = [
        (400, #"{"errorCode":4000006,"errorMessage":"Invalid transaction id."}"#, 4_000_006, false),
        (400, #"{"errorCode":9990000,"errorMessage":"Testing error."}"#, 9_990_000, false),
        (404, #"{"errorCode":4040010,"errorMessage":"Transaction id not found."}"#, 4_040_010, false),
        (404, #"{"errorCode":4040002,"errorMessage":"Try again."}"#, 4_040_002, true),
        (404, #"{"errorCode":4040004}"#, 4_040_004, true), (404, #"{"errorCode":4040006}"#, 4_040_006, true),
        (500, #"{"errorCode":5000000,"errorMessage":"An unknown error occurred."}"#, 5_000_000, true),
        (500, #"{"errorCode":5000001}"#, 5_000_001, true), (500, "<html>", nil, true), (503, "", nil, true),
        (403, "no", nil, false), (302, "", nil, false),
    ]

    @Test(arguments: refusals)
    func `every refusal keeps Apple's number and says whether to try again`(
        _ status: Int, _ body: String, _ number: Int64?, _ isRetryable: Bool
    ) async throws {
        let error = try await StandIn.run([.json(body, status: status)]) { api, _ in
            #expect(throws: ServerAPIError.self) { try api.transactionInfo("1") }
        }
        #expect(error == .refused(status: status, code: number.map(ServerAPIErrorCode.init(rawValue:))))
        #expect(error?.isRetryable == isRetryable)
    }

    @Test(arguments: [#"{"signedTransactionInfo":"#, "<html>", "", "[]", #"{"other":1}"#])
    func `a success without its documented body is tried again later`(_ body: String) async throws {
        try await StandIn.run([.json(body)]) { api, _ in
            let error = #expect(throws: ServerAPIError.self) { try api.transactionInfo("1") }
            #expect(error?.code == "server_api.unreadable")
            #expect(error?.isRetryable == true)
        }
    }

    @Test
    func `an empty 202 is success`() async throws {
        try await StandIn.run([HTTPResponse(status: 202)]) { api, _ in
            let request = try ConsumptionRequest(sampleContentProvided: true, deliveryStatus: .other)
            try api.sendConsumption(request, of: "1")
        }
    }

    @Test
    func `after 429 nothing is sent until Apple's moment, which is in milliseconds since 1970`() async throws {
        let limited = HTTPResponse.json(
            #"{"errorCode":4290000}"#, status: 429, headers: [("Retry-After", "1700000030000")])
        let asked = try await StandIn.run([limited]) { api, standIn in
            #expect(throws: ServerAPIError.rateLimited(milliseconds: 30_000)) { try api.transactionInfo("1") }
            let second = #expect(throws: ServerAPIError.self) { try api.refundHistory("1") }
            #expect(second?.code == "server_api.rate_limited")
            return standIn.requests.count
        }
        #expect(asked == 1)
    }

    @Test
    func `after 401 the breaker stops all calls and lets one through later`() async throws {
        let breaker = AuthorizationBreaker()
        let asked = try await StandIn.run([HTTPResponse(status: 401)], breaker: breaker) { api, standIn in
            #expect(throws: ServerAPIError.unauthorized) { try api.transactionInfo("1") }
            let second = #expect(throws: ServerAPIError.self) { try api.transactionInfo("2") }
            #expect(second?.code == "server_api.authorization_paused")
            return standIn.requests.count
        }
        #expect(asked == 1)
        #expect(breaker.isOpen)
        let later = ContinuousClock.now + AuthorizationBreaker.firstPause + .seconds(1)
        #expect(breaker.pause(now: later) == nil, "one is let through")
        #expect(breaker.pause(now: later) != nil, "and only one")
        breaker.refused(now: later)
        let wait = breaker.pause(now: later)
        #expect(wait == AuthorizationBreaker.firstPause * 2, "refused again, twice the pause")
        breaker.accepted()
        #expect(!breaker.isOpen)
    }

    @Test
    func `an error's text names Apple's error and nothing of the request`() {
        let error = ServerAPIError.refused(status: 404, code: .transactionIDNotFound)
        #expect("\(error)" == "Apple answered 404, 4040010 TRANSACTION_ID_NOT_FOUND")
        #expect("\(ServerAPIError.refused(status: 502, code: nil))" == "Apple answered 502 without an error code")
    }

    @Test
    func `the documented numbers that are to be tried again are these and no others`() {
        let retried = ServerAPIErrorCode.names.keys.filter { ServerAPIErrorCode(rawValue: $0).isRetryable }.sorted()
        #expect(retried == [4_040_002, 4_040_004, 4_040_006, 4_290_000, 5_000_000, 5_000_001])
        #expect(ServerAPIErrorCode.names.count == 89)
    }
}
