import AppStoreServerAPI
import AppStoreSimulation
import Crypto
import HTTPClient
import JSON
import TestSupport
import Testing

/// What goes wrong between Purser's client and the simulator, on purpose.
@Suite struct ServerAPITroubleTests {
    /// One thing that is wrong with a token.
    struct Forgery: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let api: @Sendable (SimulatorStage) throws -> ServerAPIError?
    }

    private static func error(_ api: consuming AppStoreServerAPI) -> ServerAPIError? {
        do throws(ServerAPIError) {
            _ = try api.transactionInfo("1")
            return nil
        } catch {
            return error
        }
    }

    static let forgeries: [Forgery] = [
        Forgery(testDescription: "another key") { error(try $0.api(key: try P256.PrivateKey.generate())) },
        Forgery(testDescription: "another key id") { error(try $0.api(keyID: "AAAAAAAAAA")) },
        Forgery(testDescription: "another issuer") {
            error(try $0.api(issuerID: "00000000-96fe-1a63-e053-0824d011072a"))
        },
        Forgery(testDescription: "another app") { error(try $0.api(bundleID: "com.example.other")) },
        Forgery(testDescription: "a clock an hour behind") {
            error(try $0.api(clock: { WallClock.milliseconds() - 3_600_000 }))
        },
        Forgery(testDescription: "a clock ten minutes ahead") {
            error(try $0.api(clock: { WallClock.milliseconds() + 600_000 }))
        },
    ]

    @Test(arguments: forgeries)
    func `a token that is not the app's is answered 401`(forgery: Forgery) async throws {
        try await SimulatorStage.run { stage in
            let error = try forgery.api(stage)
            #expect(error == .unauthorized)
        }
    }

    @Test func `a good token reaches the books, a clock half a minute ahead too`() async throws {
        try await SimulatorStage.run { stage in
            let notFound = ServerAPIError.refused(status: 404, code: .transactionIDNotFound)
            let exact = Self.error(try stage.api())
            let ahead = Self.error(try stage.api(clock: { WallClock.milliseconds() + 30_000 }))
            #expect(exact == notFound && ahead == notFound)
        }
    }

    @Test func `no token at all is answered 401 without JSON`() async throws {
        try await SimulatorStage.run { stage in
            var client = try HTTPClient.open()
            let answer = try client.send(HTTPClientRequest("GET", stage.base + "/inApps/v1/transactions/1"))
            #expect(answer.status == 401)
            #expect((try? JSONReader.parseObject(answer.body)) == nil)
        }
    }

    @Test func `after a 429 the client waits for Apple's time and is served then`() async throws {
        try await SimulatorStage.run { stage in
            let id = try stage.buy().transactionID
            try stage.store().spoilServerAPI("rateLimited", details: ["milliseconds": 200])
            var api = try stage.api()
            #expect(throws: ServerAPIError.self) { try api.transactionInfo(id) }
            var refusals = 0
            try eventually("it is served") {
                do throws(ServerAPIError) {
                    return try !api.transactionInfo(id).isEmpty
                } catch {
                    guard case .rateLimited(let milliseconds) = error, milliseconds <= 200 else { throw error }
                    refusals += 1
                    return false
                }
            }
            // A simulator that sent seconds instead of UNIX milliseconds would stop the client for a minute.
            #expect(refusals < 100)
        }
    }

    /// A fault, and what the client says to it.
    static let faults: [(String, JSONObject, ServerAPIError, Bool)] = [
        ("error", ["errorCode": 5_000_000], .refused(status: 500, code: .init(rawValue: 5_000_000)), true),
        ("error", ["errorCode": 4_040_002], .refused(status: 404, code: .init(rawValue: 4_040_002)), true),
        ("error", ["errorCode": 4_000_006], .refused(status: 400, code: .init(rawValue: 4_000_006)), false),
        ("unauthorized", [:], .unauthorized, true),
        ("timeout", [:], .transport(.timeout), true),
        ("empty", [:], .unreadable("it is empty"), true),
    ]

    @Test(arguments: faults.indices)
    func `a fault is told apart, and the next call is served`(index: Int) async throws {
        let (mode, details, expected, isRetryable) = Self.faults[index]
        try await SimulatorStage.run { stage in
            let id = try stage.buy().transactionID
            try stage.store().spoilServerAPI(mode, details: details)
            var api = try stage.api(timeout: .milliseconds(mode == "timeout" ? 300 : 10_000))
            #expect(throws: expected) { try api.transactionInfo(id) }
            #expect(expected.isRetryable == isRetryable)
            var next = try stage.api()
            #expect(try !next.transactionInfo(id).isEmpty)
        }
    }

    @Test(arguments: ["truncated", "notJSON"])
    func `a body that is cut off or no JSON is unreadable and may be asked again`(mode: String) async throws {
        try await SimulatorStage.run { stage in
            let id = try stage.buy().transactionID
            try stage.store().spoilServerAPI(mode, details: ["path": "/transactions/"])
            var api = try stage.api()
            #expect(try api.transactionHistory(id).signedTransactions.count == 1)
            do throws(ServerAPIError) {
                _ = try api.transactionInfo(id)
                Issue.record("it was read")
            } catch {
                guard case .unreadable = error else {
                    Issue.record("\(error)")
                    return
                }
                #expect(error.isRetryable)
            }
            #expect(try !api.transactionInfo(id).isEmpty)
        }
    }
}
