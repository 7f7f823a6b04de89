import JSON
import Messages
import Pipeline

/// The body of `POST /api/v1/payments/apple/transactions/verify`. Unknown members are ignored: points, prices and user ids
/// that a client may add are never read.
struct PaymentBody: Equatable {
    /// The app's own name of what was bought.
    let productCode: String
    /// What Apple must have signed; anything else is refused.
    let expectation: PurchaseExpectation
    /// The JWS, without white space around it. Its content is Verification's matter.
    let signedTransaction: String

    /// Longest JWS in bytes, as everywhere.
    static let longestTransaction = VerifyBody.longestTransaction
    /// Longest body in bytes: the JWS, five short members and some white space.
    static let longestBody = 72 << 10
    /// Longest code or product id in bytes.
    private static let longestName = 128
    /// Apple's ids are numbers of 64 bits: 20 digits at most.
    private static let longestTransactionID = 20

    /// Reads it. `appAccountToken` may be missing or null.
    init(_ body: JSONObject) throws(Problem) {
        let (code, product, transaction, text) = try JSONBody.members {
            () throws(JSONError) -> (String, String, String, String) in
            (
                try body.plainText("productCode", longest: Self.longestName),
                try body.plainText("appStoreProductId", longest: Self.longestName),
                try body.plainText("transactionId", longest: Self.longestTransactionID),
                try body.string("signedTransactionInfo")
            )
        }
        productCode = code
        signedTransaction = PlainText.trimmed(text)
        guard !signedTransaction.isEmpty else { throw Problem(JSONError(.missing, path: "signedTransactionInfo")) }
        guard signedTransaction.utf8.count <= Self.longestTransaction else {
            throw Problem.tooLarge(field: "signedTransactionInfo", limit: Self.longestTransaction)
        }
        expectation = PurchaseExpectation(
            productCode: code, productID: ProductID(product), transactionID: TransactionID(transaction),
            appAccountToken: try Self.token(body))
    }

    private static func token(_ body: JSONObject) throws(Problem) -> String? {
        let text = try JSONBody.members { () throws(JSONError) in try body.optionalString("appAccountToken") }
        guard let text else { return nil }
        guard let value = UUIDText.parse(text) else {
            throw Problem.malformed(
                "appAccountToken", reason: "json.wrong_type", detail: "The member `appAccountToken` must be a UUID.")
        }
        return UUIDText.format(value)
    }
}
