/// The one table of everything that can go wrong: code, status, title, what to do.
///
/// `docs/protocols/common/http-error-codes.md` shows the same table; a test compares the two.
enum ProblemCatalog {
    /// One row.
    struct Entry: Sendable, Equatable {
        /// The code.
        let code: ProblemCode
        /// The HTTP status.
        let status: Int
        /// A short summary, the same for every occurrence (RFC 9457 §3.1.3).
        let title: String
        /// What was wrong and what to do; an answer may replace it by something more precise.
        let advice: String
        /// Seconds until asking again makes sense; nil where it never does by itself.
        var retryAfterSeconds: Int?
    }

    /// The row of `code`. Every code has one (tested); a missing one could only be answered as an internal error.
    static func entry(for code: ProblemCode) -> Entry {
        entriesByCode[code]
            ?? Entry(code: .internalError, status: 500, title: "Internal error", advice: "Try again later.")
    }

    private static let entriesByCode = Dictionary(
        (requestEntries + notificationEntries + purchaseEntries + paymentEntries + walletEntries).map { ($0.code, $0) },
        uniquingKeysWith: { first, _ in first })

    /// Problems of the request itself.
    static let requestEntries: [Entry] = [
        Entry(
            code: .malformedRequest, status: 400, title: "Malformed request",
            advice: "The request cannot be read. Correct the member or parameter named by `field`."),
        Entry(
            code: .unauthenticated, status: 401, title: "Not authenticated",
            advice: "A valid bearer token is needed. Log in again and repeat the request."),
        Entry(
            code: .tokenExpired, status: 401, title: "Token expired",
            advice: "The token has expired. Get a new one and repeat the request."),
        Entry(
            code: .wrongTokenKind, status: 403, title: "Wrong kind of token",
            advice:
                "This call takes the other kind of token: users call with login tokens, servers with service tokens."
        ),
        Entry(
            code: .appNotFound, status: 404, title: "No such app",
            advice: "No app is served under this host and path. Check the address the client uses."),
        Entry(
            code: .notFound, status: 404, title: "No such resource",
            advice: "There is nothing at this path. Check the path against the protocol."),
        Entry(
            code: .methodNotAllowed, status: 405, title: "Method not allowed",
            advice: "Use one of the methods in the Allow header."),
        Entry(
            code: .requestTimeout, status: 408, title: "Request timeout",
            advice: "The body did not arrive in time. Send the request again.", retryAfterSeconds: 1),
        Entry(
            code: .payloadTooLarge, status: 413, title: "Payload too large",
            advice: "The body or one of its members exceeds the limit of this call. Send a smaller one."),
        Entry(
            code: .unsupportedMediaType, status: 415, title: "Unsupported media type",
            advice: "Send the body as uncompressed UTF-8 JSON with Content-Type: application/json."),
        Entry(
            code: .upgradeRequired, status: 426, title: "WebSocket required",
            advice: "This address is a WebSocket. Send the handshake of RFC 6455, version 13, with the bearer token."),
        Entry(
            code: .tooManyRequests, status: 429, title: "Too many requests",
            advice: "The caller asks too often. Repeat the request after the time in Retry-After; repeating is safe.",
            // The least; an answer says how long it takes until the limit has room.
            retryAfterSeconds: 1),
        Entry(
            code: .headersTooLarge, status: 431, title: "Header fields too large",
            advice: "Send fewer or shorter header fields."),
        Entry(
            code: .internalError, status: 500, title: "Internal error",
            advice: "The request could not be answered. Do not finish a purchase; report the request id."),
        Entry(
            code: .serviceBusy, status: 503, title: "Service busy",
            advice: "The request was not answered. Repeat it after the time in Retry-After; repeating is safe.",
            retryAfterSeconds: 1),
        Entry(
            code: .unsupportedHTTPVersion, status: 505, title: "HTTP version not supported",
            advice: "Use HTTP/1.1."),
    ]

    /// Problems of Apple's notifications.
    static let notificationEntries: [Entry] = [
        Entry(
            code: .signedPayloadMissing, status: 400, title: "No signed payload",
            advice:
                "The body has no text `signedPayload`. This address takes App Store Server Notifications, version 2."),
        Entry(
            code: .notificationVersionUnsupported, status: 400, title: "Version 1 notification",
            advice: "The body is a version 1 notification. Choose Version 2 for this address in App Store Connect."),
    ]

    /// Problems of purchases and orders.
    static let purchaseEntries: [Entry] = [
        Entry(
            code: .appleTransactionVerifyFailed, status: 422, title: "Not a genuine transaction of this app",
            advice: "The signed transaction was not signed by Apple for this app. Send StoreKit's jwsRepresentation."),
        Entry(
            code: .appleTransactionIDEmpty, status: 422, title: "Transaction id missing",
            advice: "The signed transaction has no transaction id. Send StoreKit's jwsRepresentation of a transaction."),
        Entry(
            code: .appleProductIDEmpty, status: 422, title: "Product id missing",
            advice: "The signed transaction has no product id. Send StoreKit's jwsRepresentation of a transaction."),
        Entry(
            code: .unknownAppleProductID, status: 404, title: "Unknown product",
            advice: "The product is not in the catalogue. A purchase of it is kept and delivered once it is; do not "
                + "finish the transaction."),
        Entry(
            code: .orderNotFound, status: 404, title: "No such order",
            advice: "The order does not exist. Deliver the transaction by verify-without-order."),
        Entry(
            code: .orderUserMismatch, status: 403, title: "Another user's order",
            advice: "The order belongs to another user. Log in as the user who made it."),
        Entry(
            code: .orderProductMismatch, status: 409, title: "Order for another product",
            advice: "The order is for another product than the transaction. Name its own order, or use "
                + "verify-without-order."),
        Entry(
            code: .appAccountTokenMismatch, status: 409, title: "Order with another token",
            advice: "The transaction carries another token than the order. Name its own order, or use "
                + "verify-without-order."),
        Entry(
            code: .appAccountTokenRequired, status: 409, title: "Token required",
            advice: "The transaction carries no appAccountToken, which this app requires. Buy with the token of an "
                + "order; support can deliver this purchase."),
        Entry(
            code: .transactionAlreadyRevoked, status: 409, title: "Purchase was refunded",
            advice: "Apple has refunded or revoked this purchase. Finish the transaction where mayFinish says so."),
        Entry(
            code: .transactionAlreadyBound, status: 409, title: "Purchase belongs to another user",
            advice: "The purchase belongs to another user. Log in as the user who made it; do not finish the "
                + "transaction."),
        Entry(
            code: .sandboxNotAllowed, status: 403, title: "Sandbox purchase not allowed",
            advice: "Sandbox purchases are for listed reviewers and testers. Add the user to the list or buy in "
                + "production."),
        Entry(
            code: .alreadyOwned, status: 409, title: "Owned already",
            advice: "The user has this for ever. The purchase is kept for support, who can refund it; finish the "
                + "transaction."),
        Entry(
            code: .familySharedNotGranted, status: 409, title: "Shared by a family member",
            advice: "The purchase is shared by a family member and gives no balance to this user."),
        Entry(
            code: .purchasePending, status: 503, title: "Purchase not decided yet",
            advice: "Do not finish the transaction. Send it again after the time in Retry-After; it is granted once.",
            retryAfterSeconds: 2),
        Entry(
            // An operator has to look first: asking every few seconds would only be noise.
            code: .underReview, status: 503, title: "Under review",
            advice: "The purchase or request waits for the operator. Do not finish the transaction unless mayFinish "
                + "says so; send it again later.",
            retryAfterSeconds: 3_600),
        Entry(
            code: .transactionNotFound, status: 404, title: "No such transaction",
            advice: "The caller has no transaction with this id."),
        Entry(
            code: .orderingRestricted, status: 403, title: "No orders for now",
            advice: "Too many of this user's purchases were refunded within 30 days. What was bought already is "
                + "delivered; contact support."),
    ]

    /// Problems of spending and reading a wallet.
    static let walletEntries: [Entry] = [
        Entry(
            code: .balanceNotEnough, status: 409, title: "Balance not enough",
            advice: "The wallet holds less than the amount. The decision is final for this sourceId; a new attempt "
                + "needs a new one."),
        Entry(
            code: .timeNotEnough, status: 409, title: "Time not enough",
            advice: "The wallet holds less time than the amount. The decision is final for this sourceId; a new "
                + "attempt needs a new one."),
        Entry(
            code: .spendConflict, status: 409, title: "Spend id used for something else",
            advice: "This sourceId was decided with another asset or amount. Use a new sourceId for a new spend."),
        Entry(
            code: .spendDeadlinePassed, status: 422, title: "Deadline passed",
            advice: "The deadline passed before the spend was decided; nothing was taken. A new attempt needs a new "
                + "sourceId."),
        Entry(
            code: .spendingRestricted, status: 403, title: "No spending for now",
            advice: "Too many of this user's purchases were refunded within 30 days. The decision is final for this "
                + "sourceId; contact support."),
        Entry(
            code: .unknownAsset, status: 422, title: "Unknown asset",
            advice: "The app has no such asset. Use one of the assets of its configuration."),
    ]
}
