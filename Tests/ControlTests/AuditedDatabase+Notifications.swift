import AppStore
import AppStoreSimulation
import JSON
import Messages
import Observability
import Service
import TestSupport
import Trust

@testable import Control
@testable import Granting
@testable import NotificationIntake
@testable import Pipeline

/// What Apple tells: stored, told on, and told again by the real handlers of Intake.
extension AuditedDatabase {
    /// A notification with the UUID of a number, about a transaction or a subscription's renewal.
    static func notification(
        _ type: String, _ number: Int, _ transaction: SimulatedTransaction? = nil, renewal: JSONObject? = nil,
        signed: Int64 = WallClock.milliseconds - 1_000
    ) throws -> SimulatedNotification {
        let signer = TransactionSigner(try authority.get())
        return SimulatedNotification(
            type: type, uuid: uuid(number), bundleID: bundleID,
            environment: transaction?.environment ?? "Production", signedDate: signed,
            signedTransactionInfo: try transaction.map { String(decoding: try signer.sign($0), as: UTF8.self) },
            signedRenewalInfo: try renewal.map { String(decoding: try signer.sign($0), as: UTF8.self) })
    }

    /// The UUID of a number.
    static func uuid(_ number: Int) -> String {
        let digits = String(number)
        return "002e14d5-51f5-4503-b5a8-" + String(repeating: "0", count: 12 - digits.count) + digits
    }

    /// Stores notifications and gives what Granting is told; nobody decides on it here.
    @discardableResult
    func notify(_ notifications: SimulatedNotification...) throws -> [Incoming] {
        let signer = TransactionSigner(try Self.authority.get())
        return try receive(try notifications.map { String(decoding: try signer.sign($0), as: UTF8.self) })
    }

    /// Stored, told and decided.
    func tell(_ notifications: SimulatedNotification...) throws {
        for notification in notifications { _ = try decide(try notify(notification), by: ApplyNotifications()) }
    }

    /// A period of a subscription.
    static func period(
        _ id: String, item: String, original: String = "20", later: Int64 = 0, revoked: Int64? = nil,
        token: String? = nil
    ) -> SimulatedTransaction {
        var statement = statement(
            id, "monthly", original: original, type: "Auto-Renewable Subscription", token: token, later: later,
            revoked: revoked)
        statement.webOrderLineItemID = item
        statement.expiresDate = statement.purchaseDate + 30 * 86_400_000
        return statement
    }

    /// Renewal info of a subscription.
    static func renewal(_ original: String = "20", later: Int64 = 0) -> JSONObject {
        [
            "originalTransactionId": .string(original), "autoRenewProductId": "monthly", "productId": "monthly",
            "autoRenewStatus": 1, "environment": "Production",
            "signedDate": .integer(WallClock.milliseconds - 3_600_000 + later),
        ]
    }

    /// Whatever came to the address of notifications.
    @discardableResult
    func receive(_ texts: [String]) throws -> [Incoming] {
        let handler = StoreNotifications(
            verifier: try Self.verifier(try Self.authority.get()), instruments: IntakeMetrics(Metrics()),
            logger: .silent,
            chains: ChainWatch(.off, service: "intake", metrics: Metrics()))
        let batch = try texts.map {
            try Self.incoming(NotificationReceived(app: Self.app, signedPayload: $0))
        }
        return Self.passedOn(try run(handler, batch, "intake"))
    }

    /// Tells notifications of a type again, and gives what Granting is told.
    @discardableResult
    func redrive(_ type: String) throws -> [Incoming] {
        let handler = RedriveNotifications(
            verifier: try Self.verifier(try Self.authority.get()), instruments: IntakeMetrics(Metrics()),
            logger: .silent)
        let request = NotificationRedriveRequested(
            notificationUUIDs: [], environment: nil, notificationTypes: [type], actor: "op", isDryRun: false)
        return Self.passedOn(try run(handler, [Self.incoming(request)], "intake"))
    }

    static func verifier(_ authority: SimulatedAuthority) throws -> SignedDataVerifier {
        try SignedDataVerifier(
            apps: [AcceptedApp(id: app.rawValue, bundleIDs: [bundleID])], roots: [authority.root])
    }

    /// Apple asks twice how much of a purchase was used; the first question is answered.
    func askForConsumption(of statement: SimulatedTransaction) throws {
        for number in 8...9 { try tell(Self.notification("CONSUMPTION_REQUEST", number, statement)) }
        var connection = try database.open(role: "purser_intake")
        var assessed = ConsumptionAssessed(isAnswered: true)
        (assessed.isOwned, assessed.hasConsented, assessed.isDelivered) = (true, true, true)
        let now: Int64 = WallClock.milliseconds
        guard let request = try ConsumptionStore.claim(now, lease: 0, on: &connection),
            let answer = ConsumptionAnswer(assessed, isAdvancedCommerce: false),
            let number = try ConsumptionStore.begin(request, answer, now: now, on: &connection)
        else { return }
        _ = try ConsumptionStore.finish(
            request, .ended(state: "sent", .accepted), after: ConsumptionAttempt(number: number, nil), now: now,
            on: &connection)
    }
}
