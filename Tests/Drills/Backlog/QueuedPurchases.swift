import AMQP
import AppStoreSimulation
import Crypto
import Glibc
import Messages

/// Purchases as the gateway would queue them: signed transactions without an order, claimed by their submitters.
struct QueuedPurchases: Sendable {
    private let signer: TransactionSigner
    private let bundleID: String
    private let run: String
    private let firstID: UInt64
    private let replyTo: String
    private let goods = Goods.all[0]

    /// Enough that their wallets' locks do not decide the result.
    private static let users = 500

    /// - Parameter replyTo: where answers are waited for.
    init(_ site: Site, replyTo: String) throws {
        signer = TransactionSigner(try SimulatedAuthority.load(from: site.state + "/simulator"))
        bundleID = site.bundleID
        run = Hex.encode(try RandomBytes.generate(4))
        // New in every run.
        firstID = UInt64(WallClock.milliseconds()) * 1_000_000
        self.replyTo = replyTo
    }

    /// The transaction id of purchase `number`.
    func transactionID(_ number: Int) -> String { String(firstID + UInt64(number)) }

    /// Who hands in purchase `number`.
    func user(_ number: Int) -> String { "backlog-\(run)-\(number % Self.users)" }

    /// What the drill records about it.
    func purchase(_ number: Int) -> Record.Purchase {
        Record.Purchase(user: user(number), environment: "Production", product: goods)
    }

    /// The message of purchase `number`.
    func message(_ number: Int) throws -> OutgoingMessage {
        let transaction = SimulatedTransaction(
            transactionID: transactionID(number), bundleID: bundleID, productID: goods.id,
            purchaseDate: WallClock.milliseconds())
        let signed = String(decoding: try signer.sign(transaction), as: UTF8.self)
        let body = PurchaseSubmitted(
            app: AppID("cloudpc"), userID: UserID(user(number)), orderNumber: nil, signedTransaction: signed)
        return try Self.message(body, of: transactionID(number), replyTo: replyTo)
    }

    /// A submission as the gateway would publish it; the answer carries the transaction's id.
    static func message(
        _ body: PurchaseSubmitted, of transactionID: String, replyTo: String
    ) throws -> OutgoingMessage {
        let now = WallClock.milliseconds()
        let digits = Array(Hex.encode(try RandomBytes.generate(16)))
        let id = [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { String(digits[$0]) }.joined(separator: "-")
        return OutgoingMessage(
            exchange: Topology.exchange(of: "gateway"), routingKey: PurchaseSubmitted.type.rawValue,
            properties: MessageProperties(
                messageID: id, type: PurchaseSubmitted.type.rawValue, correlationID: transactionID,
                replyTo: replyTo, contentType: "application/json", timestamp: now / 1_000,
                headers: [
                    HeaderName.schemaVersion: .int64(Int64(PurchaseSubmitted.version)),
                    HeaderName.occurredAt: .int64(now), HeaderName.app: .string(body.app.rawValue),
                ]),
            body: try MessageCoding.encode(body))
    }
}
