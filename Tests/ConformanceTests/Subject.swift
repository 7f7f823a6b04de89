import AppStoreSimulation
import Crypto
import Glibc
import HTTPClient
import JSON
import TestSupport
import Testing

@testable import Drills

/// The system under test, at whatever address: `PURSER_DRILL_GATEWAY_URL` and the other settings of `purser-drills`
/// (infra/scripts/drill-environment prints them for a deployment of `make up`).
///
/// `PURSER_CONFORMANCE_NOTIFICATIONS_URL` is where Apple is to post, if that is not `/apple/iap/notifications` of the
/// gateway. The simulator is told so. Users are new in every run, so the suite can be repeated on one system.
struct Subject {
    let gateway: String
    let notificationsURL: String
    let store: RemoteStore
    let bundleID: String
    private let login: LoginTokens
    private let service: LoginTokens
    private let settings: DrillSettings

    init() throws {
        settings = DrillSettings()
        gateway = try settings.value("GATEWAY_URL")
        bundleID = try settings.value("BUNDLE_ID")
        store = try RemoteStore(base: try settings.value("SIMULATOR_URL"))
        login = try settings.login().tokens()
        service = try settings.service().tokens()
        notificationsURL =
            getenv("PURSER_CONFORMANCE_NOTIFICATIONS_URL").map { String(cString: $0) }
            ?? gateway + "/apple/iap/notifications"
        try store.register(try settings.simulatedApp(notificationURL: notificationsURL))
    }

    /// Runs a check on a thread of its own.
    static func check(_ body: @escaping @Sendable (Subject) throws -> Void) async throws {
        try await onThread { try body(try Subject()) }
    }

    /// Whether the processes can be stopped: only those of a deployment of this machine.
    static var canBreak: Bool { (try? DrillSettings().value("SCRIPTS")) != nil }

    /// `service kill granting` and the like.
    func control(_ command: String, _ name: String) throws {
        try Command.run(
            "/usr/bin/env",
            ["PURSER_STATE=" + (try settings.state()), try settings.value("SCRIPTS") + "/service", command, name])
    }

    // MARK: - People

    /// A user nobody has seen before, with an Apple account of the same name.
    func user(_ name: String) throws -> User {
        let id = "\(name)-" + Hex.encode(try RandomBytes.generate(6))
        return User(id: id, client: try BackendClient(base: gateway, token: try login.token(id)))
    }

    /// The login of a user, for other connections.
    func token(of user: User) throws -> String { try login.token(user.id) }

    /// The app's own server takes something out of a wallet; the balance after it.
    func spend(_ amount: Int64, of asset: String = "DANBING", by user: User) throws -> Int64? {
        var server = try BackendClient(base: gateway, token: try service.token("cloud-pc"))
        return try server.send(
            "POST", "/api/wallet/consume",
            [
                "userId": .string(user.id), "assetType": .string(asset), "amount": .integer(amount),
                "sourceId": .string("spend-" + Hex.encode(try RandomBytes.generate(8))),
                "deadline": "2099-01-01T00:00:00Z",
            ])["balanceAfter"]?.intValue
    }

    // MARK: - Purchases

    /// A purchase that Apple has charged for and that nobody was told of, unless `notification` says so.
    func purchase(
        _ product: String = "pyy_danbing_60", by user: User, token: String? = nil, quantity: Int64 = 1,
        environment: String = "Production", bundleID: String? = nil, notification: DeliveryPlan = .never,
        isUnmarked: Bool = false
    ) throws -> SignedPurchase {
        let request = PurchaseRequest(
            bundleID: bundleID ?? self.bundleID, productID: product, appleAccount: user.id, appAccountToken: token,
            quantity: quantity, environment: environment, notification: notification, isUnmarked: isUnmarked)
        guard case .purchased(let purchase) = try store.purchase(request) else {
            throw Unexpected(description: "the store waits for approval nobody asked for")
        }
        return purchase
    }

    /// A purchase by an order, granted.
    func granted(_ product: String = "pyy_danbing_60", to user: User) throws -> SignedPurchase {
        let order = try user.client.order(product)
        let purchase = try purchase(product, by: user, token: order.appAccountToken)
        let delivery = try user.client.verify(purchase.signedTransactionInfo, orderNumber: order.number)
        #expect(delivery.status == "GRANTED")
        return purchase
    }

    // MARK: - Notifications

    /// Waits until everything told about a transaction so far was answered with success.
    func waitUntilTold(_ transactionID: String) throws {
        try eventually(within: .seconds(30), "the notifications of \(transactionID) are delivered") {
            try store.notifications(about: transactionID).allSatisfy { $0["finished"] == true }
        }
        #expect(
            try store.notifications(about: transactionID).allSatisfy {
                $0["delivered"] == true || ($0["sendAttempts"]?.arrayValue ?? []).isEmpty
            })
    }

    /// Waits until whatever was posted so far has had its effect: a purchase and its refund, told last, have had theirs.
    ///
    /// That is so where notifications are handled in the order of their arrival, as in one lane.
    func waitUntilSettled() throws {
        let marker = try user("marker")
        let purchase = try granted(to: marker)
        _ = try store.refund(purchase.transactionID, environment: "Production")
        try expectBalance(0, of: marker)
    }

    /// The wallet of danbing, waited for.
    func expectBalance(
        _ danbing: Int64, of user: User, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        var seen: Int64?
        do {
            try eventually(within: .seconds(20), every: .milliseconds(100), "\(user.id) has \(danbing)") {
                seen = try user.client.balance()["danbing"]
                return seen == danbing
            }
        } catch is ConditionNotMet {
            Issue.record("\(user.id) has \(seen ?? -1) instead of \(danbing)", sourceLocation: sourceLocation)
        }
    }

    /// Posts a body to the address of notifications: the status.
    func post(_ body: [UInt8]) throws -> Int {
        var client = try HTTPClient.open()
        let request = HTTPClientRequest(
            "POST", notificationsURL, headers: [("Content-Type", "application/json")], body: body)
        return try client.send(request).status
    }
}

/// Somebody with a login.
final class User {
    let id: String
    var client: BackendClient

    init(id: String, client: consuming BackendClient) {
        self.id = id
        self.client = client
    }

    /// The ledger of danbing, newest first: `OUT 60 = 0 APPLE_REFUND`.
    func ledger() throws -> [String] {
        let page = try client.send("GET", "/api/wallet/ledger?asset=DANBING&limit=50")
        return try page.readEach("entries") { (row) throws(JSONError) in
            "\(try row.string("direction")) \(try row.int64("amount")) = \(try row.int64("balanceAfter"))"
                + " \(try row.string("sourceType"))"
        }
    }
}

/// Something that should not be.
struct Unexpected: Error, CustomStringConvertible {
    let description: String
}

/// The problem a call was refused with; an issue is recorded if it was accepted or there was no answer.
func refusal(
    sourceLocation: SourceLocation = #_sourceLocation, _ call: () throws(BackendError) -> Void
) -> BackendProblem? {
    do throws(BackendError) {
        try call()
        Issue.record("accepted", sourceLocation: sourceLocation)
    } catch {
        if case .problem(let problem) = error { return problem }
        Issue.record("no answer: \(error)", sourceLocation: sourceLocation)
    }
    return nil
}
