extension ProblemCatalog {
    /// Problems of purchases, as the `points` surface calls them (document B, 6.3).
    static let paymentEntries: [Entry] = [
        Entry(
            code: .paymentProductNotFound, status: 404, title: "No such package",
            advice: "The catalogue has no such product. Load the packages again. A paid purchase is kept and delivered "
                + "once the catalogue has it; do not finish the transaction."),
        Entry(
            code: .paymentProductMismatch, status: 422, title: "Another product",
            advice: "productCode or appStoreProductId is not what Apple signed. Nothing was granted by this request; "
                + "send it again with the product of the transaction."),
        Entry(
            code: .paymentTransactionInvalid, status: 422, title: "Not a genuine transaction",
            advice: "The signed transaction was not signed by Apple for this app, or is not the one of transactionId. "
                + "Send StoreKit's jwsRepresentation."),
        Entry(
            code: .paymentTransactionRevoked, status: 409, title: "Purchase was refunded",
            advice: "Apple has refunded or revoked this purchase. Finish the transaction where mayFinish says so."),
        Entry(
            code: .paymentTransactionConflict, status: 409, title: "Not this user's purchase",
            advice: "The purchase or its appAccountToken is not the caller's. Log in as the user who bought it; do not "
                + "finish the transaction."),
        Entry(
            code: .paymentTransactionNotFound, status: 404, title: "No such transaction",
            advice: "The caller has no transaction with this id. Submit it by verify."),
        Entry(
            code: .paymentStarterPackIneligible, status: 409, title: "Starter pack already bought",
            advice:
                "This identity has had its starter pack. The purchase is kept for support, who can deliver or refund "
                + "it; finish the transaction and load the packages again."),
        Entry(
            code: .paymentSandboxNotAllowed, status: 403, title: "Sandbox purchase not allowed",
            advice: "Sandbox purchases are for listed reviewers and testers. Add the user to the list or buy in "
                + "production."),
        Entry(
            code: .paymentAppleUnavailable, status: 503, title: "Apple cannot be asked",
            advice:
                "Something of Apple's that is needed cannot be reached. Do not finish the transaction; send it again "
                + "after the time in Retry-After.",
            // As long as the first retry of what waits for Apple.
            retryAfterSeconds: 5),
        Entry(
            code: .paymentPending, status: 503, title: "Payment not decided yet",
            advice: "Do not finish the transaction. Send it again after the time in Retry-After; it is granted once.",
            retryAfterSeconds: 2),
        Entry(
            code: .paymentGrantFailed, status: 500, title: "Grant failed",
            advice: "The purchase is kept, but could not be credited and waits for the operator. Do not finish the "
                + "transaction unless mayFinish says so; send it again later."),
    ]
}
