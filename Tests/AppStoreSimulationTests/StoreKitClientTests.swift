import AppStoreSimulation
import JSON
import TestSupport
import Testing

@Suite struct StoreKitClientTests {
    /// An app, its store, its backend; one thread.
    private final class Device {
        let folder: TemporaryFolder
        let backend: ScriptedBackend
        let store: LocalStore
        var waits: [Duration] = []

        init(_ answers: [ScriptedBackend.Answer]) throws {
            folder = try TemporaryFolder()
            backend = try ScriptedBackend(answers)
            store = LocalStore(try SimulatedStore.open(in: folder.path + "/store"))
        }

        deinit { backend.stop() }

        /// Starts the app, also again: what it knew is in its file.
        func start() throws -> StoreKitClient {
            let settings = StoreKitClient.Settings(
                backend: backend.url, loginToken: "t", bundleID: "com.example.app", appleAccount: "anna",
                file: folder.path + "/purchases.json")
            return try StoreKitClient(settings, store: store) { self.waits.append($0) }
        }

        func unfinished() throws -> [SignedPurchase] {
            try store.unfinished(appleAccount: "anna", environment: "Production")
        }
    }

    @Test(arguments: ["GRANTED", "ALREADY_GRANTED"])
    func `a delivered purchase is finished and the backend's balance shown (A-102, A-107)`(status: String) async throws
    {
        try await onThread {
            let device = try Device([.granted(status, balance: 260)])
            let app = try device.start()
            let outcome = try app.buy("coins")
            guard case .delivered(let delivery) = outcome else { throw Unexpected(outcome) }
            #expect(delivery.status == status)
            #expect(app.shownBalance == ["danbing": 260])
            #expect(try device.unfinished().isEmpty)
            #expect(app.keptCount == 0)
            #expect(device.backend.submissions.map(\.orderNumber) == ["IAP1"])
        }
    }

    @Test(arguments: [
        ScriptedBackend.Answer.problem(409, "ORDER_PRODUCT_MISMATCH"), .problem(422, "APPLE_TRANSACTION_VERIFY_FAILED"),
        .problem(503, "UNDER_REVIEW", retryAfter: 3_600), .problem(500, "INTERNAL_ERROR"), .granted("PROCESSING"),
        ScriptedBackend.Answer(status: 200, body: [:]),
    ])
    func `anything else is not finished and kept (A-102)`(answer: ScriptedBackend.Answer) async throws {
        try await onThread {
            let device = try Device([answer])
            let app = try device.start()
            let outcome = try app.buy("coins")
            guard case .kept = outcome else { throw Unexpected(outcome) }
            #expect(try device.unfinished().count == 1)
            #expect(app.keptCount == 1)
            #expect(device.backend.submissions.count == 1)
        }
    }

    @Test func `a refunded purchase is finished because the problem says so`() async throws {
        try await onThread {
            let device = try Device([.problem(409, "TRANSACTION_ALREADY_REVOKED", mayFinish: true)])
            let app = try device.start()
            let outcome = try app.buy("coins")
            guard case .finished(let problem) = outcome else { throw Unexpected(outcome) }
            #expect(problem.code == "TRANSACTION_ALREADY_REVOKED")
            #expect(try device.unfinished().isEmpty)
            #expect(app.shownBalance == nil)
        }
    }

    @Test func `Retry-After is honoured, and only so often`() async throws {
        try await onThread {
            let device = try Device([.problem(503, "PURCHASE_PENDING", retryAfter: 2)])
            let app = try device.start()
            let outcome = try app.buy("coins")
            guard case .kept = outcome else { throw Unexpected(outcome) }
            #expect(device.backend.submissions.count == 5)
            #expect(device.waits == Array(repeating: .seconds(2), count: 4))

            let patient = try Device([.problem(503, "SERVICE_BUSY", retryAfter: 1), .granted()])
            let second = try patient.start().buy("coins")
            guard case .delivered = second else { throw Unexpected(second) }
            #expect(patient.waits == [.seconds(1)])
        }
    }

    @Test func `after a restart what is unfinished is sent again with its order (A-104, A-105)`() async throws {
        try await onThread {
            let device = try Device([.problem(500, "INTERNAL_ERROR"), .granted("ALREADY_GRANTED")])
            _ = try device.start().buy("coins")
            let outcomes = try device.start().resendUnfinished()
            #expect(outcomes.count == 1)
            guard case .delivered = outcomes.first else { throw Unexpected(outcomes) }
            #expect(device.backend.submissions.map(\.orderNumber) == ["IAP1", "IAP1"])
            #expect(try device.unfinished().isEmpty)
        }
    }

    @Test func `what only the store knows is sent with its order by the token, else without one`() async throws {
        try await onThread {
            let device = try Device([.granted()])
            let app = try device.start()
            // Approved later by a parent: the app only sees it in Transaction.updates.
            guard case .pending(let id) = try app.buy("coins", .asksParent) else { throw Unexpected("not pending") }
            #expect(try app.resendUnfinished().isEmpty)
            _ = try device.store.store.decide(pendingID: id, isApproved: true)
            // Bought on another device: no order is known here.
            _ = try device.store.purchase(
                PurchaseRequest(bundleID: "com.example.app", productID: "coins", appleAccount: "anna"))
            #expect(try device.start().resendUnfinished().count == 2)
            #expect(device.backend.submissions.map(\.orderNumber) == ["IAP1", nil])
            #expect(device.backend.submissions.map(\.path).last == "/api/iap/apple/verify-without-order")
            #expect(try device.unfinished().isEmpty)
        }
    }

    @Test func `an order that does not fit is not named again`() async throws {
        try await onThread {
            let device = try Device([.problem(409, "ORDER_PRODUCT_MISMATCH"), .granted()])
            let app = try device.start()
            _ = try app.buy("coins")
            _ = try app.resendUnfinished()
            #expect(device.backend.submissions.map(\.orderNumber) == ["IAP1", nil])
        }
    }

    @Test func `a cancelled sheet submits nothing (A-103)`() async throws {
        try await onThread {
            let device = try Device([.granted()])
            let app = try device.start()
            #expect(try app.buy("coins", .cancels) == .cancelled)
            #expect(device.backend.submissions.isEmpty)
            #expect(try device.unfinished().isEmpty)
        }
    }

    @Test func `the balance is asked for and shown as it is (A-106)`() async throws {
        try await onThread {
            let device = try Device([.granted()])
            let app = try device.start()
            #expect(app.shownBalance == nil)
            try app.refreshBalance()
            #expect(app.shownBalance == ["danbing": 7])
        }
    }

    private struct Unexpected: Error, CustomStringConvertible {
        let description: String
        init(_ what: Any) { description = "unexpected: \(what)" }
    }
}
