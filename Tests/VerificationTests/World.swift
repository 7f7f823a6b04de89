import AppStore
import AppStoreSimulation
import Crypto
import JSON
import LegacyReceipts
import Messages
import Pipeline

@testable import Verification

/// One simulated authority, two apps, and what they sell.
struct World {
    /// 2026-11-30T00:00:00Z in ms.
    static let now: Int64 = 1_796_083_200_000
    static let game = AppID("game")
    static let books = AppID("books")
    static let gameBundle = "com.example.game"
    static let booksBundle = "com.example.books"
    /// The books accept no sandbox purchases.
    static let apps = [
        AcceptedApp(id: game.rawValue, bundleIDs: [gameBundle]),
        AcceptedApp(id: books.rawValue, bundleIDs: [booksBundle], environments: [.production]),
    ]
    /// Made once: the keys do not matter.
    private static let shared = Result { try SimulatedAuthority.generate(withReceipts: true) }
    /// Signs receipts under the same root.
    static let receipts = shared.flatMap { authority in
        Result { try authority.receipts ?? ReceiptAuthority.generate() }
    }

    /// Certificates without Apple's marks, under a root that is trusted all the same.
    private static let unmarked = Result {
        try SimulatedAuthority.generate { storey, builder in
            if storey == .leaf { builder.extensions.removeAll { $0.identifier == ChainVerifier.leafMarker } }
        }
    }

    let authority: SimulatedAuthority
    let developers: SimulatedAuthority
    let signer: TransactionSigner

    init() throws {
        authority = try Self.shared.get()
        developers = try Self.unmarked.get()
        signer = TransactionSigner(authority)
    }

    /// The production verifier, trusting both simulated roots.
    func verifier() throws -> SignedDataVerifier {
        try SignedDataVerifier(apps: Self.apps, roots: [authority.root, developers.root])
    }

    /// The production verifier of receipts.
    func receiptVerifier() throws -> ReceiptVerifier {
        try ReceiptVerifier(apps: Self.apps, roots: [authority.root])
    }

    static func transaction(_ id: String = "2000000000000001", bundleID: String? = gameBundle) -> SimulatedTransaction {
        SimulatedTransaction(
            transactionID: id, bundleID: bundleID, productID: "com.example.game.coins", purchaseDate: now - 60_000)
    }

    /// A signed transaction, changed before it is signed.
    func sign(
        _ id: String = "2000000000000001", _ change: (inout SimulatedTransaction) -> Void = { _ in }
    ) throws -> String {
        var transaction = Self.transaction(id)
        change(&transaction)
        return String(decoding: try signer.sign(transaction), as: UTF8.self)
    }

    /// A signed transaction without some fields.
    func sign(without first: String, _ others: String...) throws -> String {
        let members = Self.transaction().json.members.filter { $0.key != first && !others.contains($0.key) }
        let object = JSONObject(members.map { (key: $0.key, value: $0.value) })
        return String(decoding: try signer.sign(object), as: UTF8.self)
    }
}

/// A submission as a lane hands it over; somebody waits for the answer.
func submission(
    _ signed: String, by user: String? = "alice", app: AppID = World.game, order: String? = nil,
    id: MessageID = MessageID(UUIDText.random()), attempt: Int = 0, isRedelivered: Bool = false
) throws -> Incoming {
    let body = PurchaseSubmitted(
        app: app, userID: user.map { UserID($0) }, orderNumber: order.map { OrderNumber($0) }, signedTransaction: signed
    )
    let header = MessageHeader(
        id: id, type: .purchaseSubmitted, version: 1, occurredAt: World.now, correlationID: "correlation",
        replyTo: "gateway", attempt: attempt)
    return Incoming(header: header, body: try MessageCoding.encode(body), isRedelivered: isRedelivered)
}

extension Outcome {
    /// The facts of a message that was handled.
    var facts: [Fact] { if case .done(let facts, _) = self { facts } else { [] } }

    /// The reason of a message that was parked.
    var parkedReason: String? { if case .park(let reason) = self { reason } else { nil } }

    /// The answer to whoever waits.
    var answer: PurchaseAnswered? {
        get throws {
            switch self {
            case .done(_, let reply), .retry(_, _, _, let reply, _):
                try reply.map { try MessageCoding.decode(PurchaseAnswered.self, from: $0.body) }
            case .park: nil
            }
        }
    }
}
