import AppStoreServerAPI
import JOSE
import JSON
import Messages
import Pipeline

/// A notification out of Apple's history, read but not verified: it is only asked about. What is fed is the signed text,
/// and Intake verifies that like everybody's.
struct AppleNotice: Equatable {
    /// Which one.
    let key: NotificationKey
    /// Apple's text.
    let type: String
    /// When it was signed (ms since 1970).
    let signedDate: Int64
    /// The statement about a transaction in it.
    let transaction: AppleStatement?
    /// As Apple signed it.
    let payload: String
    /// What became of Apple's last attempt to post it.
    let lastAttempt: String?

    /// A notification's text at most, as the gateway takes it.
    private static let limits = CompactJWS.Limits(maximumBytes: 256 << 10)

    /// Nil if it is none.
    ///
    /// - Parameter environment: the one that was asked; the text itself goes before.
    init?(_ item: NotificationPage.Item, environment: StoreEnvironment) {
        guard let body = AppleStatement.read(item.signedPayload, Self.limits),
            let type = body["notificationType"]?.stringValue,
            let uuid = body["notificationUUID"]?.stringValue.flatMap({ UUIDText.parse($0) })
        else { return nil }
        let about = ["data", "summary", "externalPurchaseToken", "appData"].lazy.compactMap { body[$0]?.objectValue }
            .first
        let named = about?["environment"]?.stringValue.flatMap { StoreEnvironment(rawValue: $0) }
        let transaction = about?["signedTransactionInfo"]?.stringValue.flatMap { AppleStatement($0) }
        guard let signed = body["signedDate"]?.intValue ?? transaction?.signedDate else { return nil }
        key = NotificationKey(environment: named ?? environment, notificationUUID: UUIDText.format(uuid))
        self.type = type
        signedDate = signed
        self.transaction = transaction
        payload = item.signedPayload
        lastAttempt = item.sendAttempts.last?.result
    }

    /// Whether Granting keeps the statement in it: all kinds that speak of a purchase and that this version knows, but
    /// those that change nothing.
    var changesPurchases: Bool {
        switch AppleNotificationType(rawValue: type) {
        case nil, .test, .renewalExtension, .externalPurchaseToken, .rescindConsent: false
        default: transaction != nil
        }
    }
}

/// What a signed transaction says, read but not verified: it is only asked about.
struct AppleStatement: Equatable {
    /// Which purchase.
    let key: PurchaseKey
    /// When it was signed (ms since 1970).
    let signedDate: Int64
    /// When it was bought (ms since 1970); nil if that is not said.
    let purchaseDate: Int64?
    /// When it was refunded or revoked (ms since 1970).
    let revocationDate: Int64?
    /// How much it takes back, in thousandths of a per cent.
    let revokedShare: Int64

    /// Nil if it is none of a kind that can be granted.
    init?(_ signed: String) {
        guard let body = Self.read(signed, CompactJWS.Limits()), let id = body["transactionId"]?.stringValue,
            !id.isEmpty, id.utf8.count <= 20, id.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let environment = body["environment"]?.stringValue.flatMap({ StoreEnvironment(rawValue: $0) }),
            let signedDate = body["signedDate"]?.intValue
        else { return nil }
        key = PurchaseKey(environment: environment, transactionID: TransactionID(id))
        self.signedDate = signedDate
        purchaseDate = body["purchaseDate"]?.intValue
        revocationDate = body["revocationDate"]?.intValue
        let whole = VerifiedTransaction.wholeShare
        let named = body["revocationPercentage"]?.intValue ?? whole
        revokedShare = revocationDate == nil ? 0 : min(max(named, 0), whole)
    }

    /// The payload of a signed text.
    static func read(_ signed: String, _ limits: CompactJWS.Limits) -> JSONObject? {
        guard let jws = try? CompactJWS(Array(signed.utf8), limits: limits),
            let payload = Base64URL.decode(jws.payloadSegment)
        else { return nil }
        return try? JSONReader.parseObject(payload)
    }
}
