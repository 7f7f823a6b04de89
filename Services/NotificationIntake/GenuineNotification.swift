import AppStore
import Messages
import Trust

/// A notification that passed every check, with what is told of it.
struct GenuineNotification {
    /// The app of the signed bundle id.
    let app: AppID
    /// From the signed claim.
    let environment: StoreEnvironment
    /// Apple's id as 16 bytes; with the environment its key.
    let uuid: [UInt8]
    /// The signed bytes of the outer payload; what is inside is inside them.
    let evidence: SignedEvidence
    /// What the others are told.
    let told: NotificationVerified
    /// Who signed.
    let signer: SignerInfo
    /// All who signed anything in it, and when.
    let signatures: [Signature]

    /// A signature in it, outside or inside.
    struct Signature {
        let chain: SignerChain
        /// ms since 1970.
        let date: Int64?
    }

    /// Whether it speaks of a purchase that was sold by Advanced Commerce.
    let isAdvancedCommerce: Bool

    /// Whether Apple asks how much of a purchase was used.
    var asksForConsumption: Bool { told.notificationType == AppleNotificationType.consumptionRequest.rawValue }

    /// Whether this version knows the kind.
    var isKnown: Bool { told.messageType != .notificationUnrecognised }

    /// Flattens a verified notification.
    ///
    /// - Parameter undated: when it was signed if nothing in it says so (old test data only).
    /// - Throws: what the transaction inside lacks for a purchase.
    init(_ verified: VerifiedNotification, undated: Int64) throws(VerificationFailure) {
        let outer = verified.notification
        guard let appID = outer.appID else { throw .bundleIDMissing }
        var transaction: VerifiedTransaction?
        if let inner = verified.transaction {
            do throws(VerificationFailure) {
                transaction = VerifiedTransaction(inner, try inner.payload.purchase())
            } catch {
                throw error.inside("signedTransactionInfo")
            }
        }
        app = AppID(appID)
        environment = StoreEnvironment(outer.environment)
        uuid = outer.payload.notificationUUID.bytes
        evidence = outer.evidence
        signer = outer.signer
        signatures =
            [Signature(chain: outer.signer.chain, date: outer.signedDate)]
            + [
                verified.transaction.map { ($0.signer, $0.signedDate) },
                verified.renewalInfo.map { ($0.signer, $0.signedDate) },
                verified.appTransaction.map { ($0.signer, $0.signedDate) },
            ].compactMap { $0.map { Signature(chain: $0.0.chain, date: $0.1) } }
        isAdvancedCommerce = verified.transaction?.payload.advancedCommerceInfo != nil
        var told = NotificationVerified(
            app: app, environment: environment, notificationUUID: "\(outer.payload.notificationUUID)",
            notificationType: outer.payload.notificationType,
            signedDate: outer.signedDate ?? transaction?.signedDate ?? undated)
        told.subtype = outer.payload.subtype
        told.transaction = transaction
        told.renewal = verified.renewalInfo.flatMap { VerifiedRenewal($0) }
        told.subscriptionStatus = outer.payload.data?.status
        told.consumptionRequestReason = outer.payload.data?.consumptionRequestReason
        self.told = told
    }

    /// The key of its facts.
    static func factKey(_ environment: StoreEnvironment, _ uuid: String) -> String { "\(environment.rawValue)/\(uuid)" }
    /// The key of its facts.
    var factKey: String { Self.factKey(environment, told.notificationUUID) }
}
