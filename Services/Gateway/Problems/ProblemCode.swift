import Messages

/// Every code an HTTP answer can carry. The raw value is what clients compare with.
///
/// Codes that Granting and Verification decide have the same text as their `AnswerCode`; the others are the gateway's
/// own. ``ProblemCatalog`` gives each its status, title and advice.
enum ProblemCode: String, CaseIterable, Sendable {
    // The gateway's own.
    case malformedRequest = "MALFORMED_REQUEST"
    case unauthenticated = "UNAUTHENTICATED"
    case tokenExpired = "TOKEN_EXPIRED"
    case wrongTokenKind = "WRONG_TOKEN_KIND"
    case appNotFound = "APP_NOT_FOUND"
    case notFound = "NOT_FOUND"
    case methodNotAllowed = "METHOD_NOT_ALLOWED"
    case requestTimeout = "REQUEST_TIMEOUT"
    case payloadTooLarge = "PAYLOAD_TOO_LARGE"
    case unsupportedMediaType = "UNSUPPORTED_MEDIA_TYPE"
    case tooManyRequests = "TOO_MANY_REQUESTS"
    case upgradeRequired = "UPGRADE_REQUIRED"
    case headersTooLarge = "HEADERS_TOO_LARGE"
    case internalError = "INTERNAL_ERROR"
    case serviceBusy = "SERVICE_BUSY"
    case unsupportedHTTPVersion = "HTTP_VERSION_NOT_SUPPORTED"

    // Notifications of Apple.
    case signedPayloadMissing = "SIGNED_PAYLOAD_MISSING"
    case notificationVersionUnsupported = "NOTIFICATION_VERSION_UNSUPPORTED"

    // Purchases and orders.
    case appleTransactionVerifyFailed = "APPLE_TRANSACTION_VERIFY_FAILED"
    case appleTransactionIDEmpty = "APPLE_TRANSACTION_ID_EMPTY"
    case appleProductIDEmpty = "APPLE_PRODUCT_ID_EMPTY"
    case unknownAppleProductID = "UNKNOWN_APPLE_PRODUCT_ID"
    case orderNotFound = "ORDER_NOT_FOUND"
    case orderUserMismatch = "ORDER_USER_MISMATCH"
    case orderProductMismatch = "ORDER_PRODUCT_MISMATCH"
    case appAccountTokenMismatch = "APP_ACCOUNT_TOKEN_MISMATCH"
    case appAccountTokenRequired = "APP_ACCOUNT_TOKEN_REQUIRED"
    case transactionAlreadyRevoked = "TRANSACTION_ALREADY_REVOKED"
    case transactionAlreadyBound = "TRANSACTION_ALREADY_BOUND_TO_OTHER_USER"
    case sandboxNotAllowed = "SANDBOX_NOT_ALLOWED"
    case alreadyOwned = "ALREADY_OWNED"
    case familySharedNotGranted = "FAMILY_SHARED_NOT_GRANTED"
    case purchasePending = "PURCHASE_PENDING"
    case underReview = "UNDER_REVIEW"
    case transactionNotFound = "TRANSACTION_NOT_FOUND"
    case orderingRestricted = "ORDERING_RESTRICTED"

    // Purchases of the points surface.
    case paymentProductNotFound = "PAYMENT_PRODUCT_NOT_FOUND"
    case paymentProductMismatch = "PAYMENT_PRODUCT_MISMATCH"
    case paymentTransactionInvalid = "PAYMENT_TRANSACTION_INVALID"
    case paymentTransactionRevoked = "PAYMENT_TRANSACTION_REVOKED"
    case paymentTransactionConflict = "PAYMENT_TRANSACTION_CONFLICT"
    case paymentTransactionNotFound = "PAYMENT_TRANSACTION_NOT_FOUND"
    case paymentStarterPackIneligible = "PAYMENT_STARTER_PACK_INELIGIBLE"
    case paymentSandboxNotAllowed = "PAYMENT_SANDBOX_NOT_ALLOWED"
    case paymentAppleUnavailable = "PAYMENT_APPLE_UNAVAILABLE"
    case paymentPending = "PAYMENT_PENDING"
    case paymentGrantFailed = "PAYMENT_GRANT_FAILED"

    // The wallet.
    case balanceNotEnough = "BALANCE_NOT_ENOUGH"
    case timeNotEnough = "TIME_NOT_ENOUGH"
    case spendConflict = "SPEND_CONFLICT"
    case spendDeadlinePassed = "SPEND_DEADLINE_PASSED"
    case spendingRestricted = "SPENDING_RESTRICTED"
    case unknownAsset = "UNKNOWN_ASSET"

    /// The code of an answer that came over the broker. A code that a newer service says and this gateway does not know
    /// is an internal error: it must not look like success.
    init(_ answer: AnswerCode) {
        self = ProblemCode(rawValue: answer.rawValue) ?? .internalError
    }

    /// The stable URI reference of the problem type (RFC 9457 §3.1.1): `/problems/order-not-found`.
    var typeReference: String { "/problems/" + rawValue.lowercased().replacing("_", with: "-") }
}
