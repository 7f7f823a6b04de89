/// What a pending request waits for, and why one ended without an answer. The raw values are stored, counted and told to
/// operators.
enum ConsumptionReason: String, Sendable, CaseIterable {
    /// Nobody has looked at it yet.
    case new
    /// The customer has not consented, or has withdrawn consent.
    case noConsent = "no_consent"
    /// Nobody has brought the purchase, so nobody could consent.
    case unclaimed
    /// The app's policy answers no requests.
    case policy
    /// It speaks of no transaction.
    case noTransaction = "no_transaction"
    /// It arrived when Apple no longer waited.
    case late
    /// It came before this service could answer.
    case beforeUpgrade = "before_upgrade"
    /// The app is not among the configured ones any more.
    case unknownApp = "unknown_app"
    /// The app has no key for Apple's Server API, or its file cannot be used.
    case noKey = "no_key"
    /// Granting has not answered.
    case noAssessment = "no_assessment"
    /// Apple refuses the app's key.
    case unauthorized = "apple_unauthorized"
    /// Apple takes no more calls at present, or the share of the rate is used up.
    case rateLimited = "apple_rate_limited"
    /// Apple did not answer, or failed.
    case unavailable = "apple_unavailable"
    /// Apple refused what it was told, for good.
    case refused = "apple_refused"
    /// Told, and accepted.
    case accepted

    /// Whether it is somebody's word that there is no answer, and nothing that an operator could mend.
    var isChoice: Bool {
        switch self {
        case .noConsent, .unclaimed, .policy, .noTransaction: true
        default: false
        }
    }
}
