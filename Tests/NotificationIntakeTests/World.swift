import AppStore
import AppStoreSimulation
import JSON
import Messages
import Observability
import Pipeline

@testable import NotificationIntake

/// One simulated authority, two apps, and what Apple tells about them.
struct World {
    /// 2026-11-30T00:00:00Z in ms.
    static let now: Int64 = 1_796_083_200_000
    static let game = AppID("game")
    static let books = AppID("books")
    static let gameBundle = "com.example.game"
    static let booksBundle = "com.example.books"
    static let apps = [
        AcceptedApp(id: game.rawValue, bundleIDs: [gameBundle], appAppleID: 1234),
        AcceptedApp(id: books.rawValue, bundleIDs: [booksBundle], environments: [.production]),
    ]
    /// Made once: the keys do not matter.
    private static let shared = Result { try SimulatedAuthority.generate() }

    let authority: SimulatedAuthority
    let signer: TransactionSigner

    init() throws {
        authority = try Self.shared.get()
        signer = TransactionSigner(authority)
    }

    /// The production verifier, trusting the simulated root.
    func verifier() throws -> SignedDataVerifier { try SignedDataVerifier(apps: Self.apps, roots: [authority.root]) }

    /// A UUID made of a number.
    static func uuid(_ number: Int) -> String {
        let digits = String(number)
        return "002e14d5-51f5-4503-b5a8-" + String(repeating: "0", count: 12 - digits.count) + digits
    }

    static func transaction(_ id: String = "2000000000000001") -> SimulatedTransaction {
        SimulatedTransaction(
            transactionID: id, bundleID: gameBundle, productID: "com.example.game.coins", purchaseDate: now - 60_000)
    }

    static func notification(_ type: String = "ONE_TIME_CHARGE", _ number: Int = 1) -> SimulatedNotification {
        SimulatedNotification(
            type: type, uuid: uuid(number), bundleID: gameBundle, appAppleID: 1234, signedDate: now - 1_000)
    }

    /// A signed notification about a transaction, changed before it is signed.
    func sign(
        _ type: String = "ONE_TIME_CHARGE", _ number: Int = 1, transaction: SimulatedTransaction? = Self.transaction(),
        _ change: (inout SimulatedNotification) -> Void = { _ in }
    ) throws -> String {
        var notification = Self.notification(type, number)
        notification.signedTransactionInfo = try transaction.map {
            String(decoding: try signer.sign($0), as: UTF8.self)
        }
        change(&notification)
        return String(decoding: try signer.sign(notification), as: UTF8.self)
    }

    /// A signed notification of any shape.
    func sign(_ object: JSONObject) throws -> String { String(decoding: try signer.sign(object), as: UTF8.self) }

    /// Renewal info of a subscription.
    func renewalInfo(_ subscription: String = "2000000000000001", environment: String = "Production") throws -> String {
        try sign([
            "originalTransactionId": .string(subscription), "autoRenewProductId": "com.example.game.pass",
            "productId": "com.example.game.pass", "autoRenewStatus": 1, "environment": .string(environment),
            "signedDate": .integer(Self.now - 1_000),
        ])
    }
}

/// A notification as a lane hands it over.
func received(
    _ signed: String, app: AppID = World.game, id: MessageID = MessageID(UUIDText.random()), attempt: Int = 0
) throws -> Incoming {
    let header = MessageHeader(
        id: id, type: .notificationReceived, version: 1, occurredAt: World.now, correlationID: "correlation",
        attempt: attempt)
    return Incoming(
        header: header, body: try MessageCoding.encode(NotificationReceived(app: app, signedPayload: signed)),
        isRedelivered: false)
}

extension Outcome {
    /// The facts of a message that was handled.
    var facts: [Fact] { if case .done(let facts, _) = self { facts } else { [] } }
    /// What was told.
    var told: [NotificationVerified] {
        get throws { try facts.map { try MessageCoding.decode(NotificationVerified.self, from: $0.body) } }
    }
    /// Whether it is to be tried again without limit.
    var isOutage: Bool { if case .retry(_, _, let isOutage, _, _) = self { isOutage } else { false } }
    /// Why it was parked.
    var parkedReason: String? { if case .park(let reason) = self { reason } else { nil } }
}
