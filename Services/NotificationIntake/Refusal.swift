import AppStore
import Crypto
import Messages
import Trust

extension NotificationStore {
    /// What a refused notification leaves behind.
    struct Refusal {
        let app: String
        let reason: String
        let check: String
        let inside: String?
        let evidenceHash: [UInt8]
        /// The beginning of what was refused, for support; all of it, usually, if Apple signed it.
        let excerpt: String
        let message: MessageHeader

        init(of received: NotificationReceived, for failure: VerificationFailure, message: MessageHeader) {
            app = Excerpt.of(received.app.rawValue, limit: 200)
            reason = failure.reason.rawValue
            check = failure.check.rawValue
            inside = failure.inside
            evidenceHash = SHA256.hash(Array(received.signedPayload.utf8))
            excerpt = Excerpt.of(
                received.signedPayload, limit: failure.isOfAuthentic ? NotificationStore.authenticLimit : Excerpt.limit)
            self.message = message
        }
    }
}

extension VerificationFailure {
    /// Whether the outer signature and its chain were good: Apple said this, so an operator may need it.
    fileprivate var isOfAuthentic: Bool {
        // What is inside is looked at once the outside holds.
        if inside != nil { return true }
        return switch reason {
        case .appMismatch, .appUnidentified, .environmentMismatch, .payloadType, .payloadField, .revoked: true
        default: false
        }
    }
}
