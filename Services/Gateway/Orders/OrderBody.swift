import JSON
import Messages

/// The body of `POST /api/iap/orders`. Unknown members are ignored.
struct OrderBody: Equatable {
    /// What is to be bought.
    let productID: ProductID

    /// Longest product id in bytes, as wide as the column of the client's own documents.
    static let longestProductID = 128

    /// Reads it.
    init(_ body: JSONObject) throws(Problem) {
        productID = try JSONBody.members { () throws(JSONError) in
            ProductID(try body.plainText("appleProductId", longest: Self.longestProductID))
        }
    }
}

/// The body of both verify calls. Unknown members are ignored: the amounts and ids a client may add are never trusted.
struct VerifyBody: Equatable {
    /// The order the client names; nil on verify-without-order.
    let orderNumber: OrderNumber?
    /// The JWS, without white space around it. Its content is Verification's matter.
    let signedTransaction: String

    /// Longest JWS in bytes: Apple's have 4–6 KB; 64 KiB is the design's limit.
    static let longestTransaction = 64 << 10
    /// Longest body in bytes: the JWS, an order number and some white space.
    static let longestBody = 72 << 10
    /// Longest order number in bytes; ours have 23.
    static let longestOrderNumber = 64

    /// Reads it; with `needsOrder` the order number must be there.
    init(_ body: JSONObject, needsOrder: Bool) throws(Problem) {
        orderNumber =
            needsOrder
            ? try JSONBody.members { () throws(JSONError) in
                OrderNumber(try body.plainText("orderNo", longest: Self.longestOrderNumber))
            } : nil
        let text = try JSONBody.members { () throws(JSONError) in try body.string("signedTransactionInfo") }
        signedTransaction = PlainText.trimmed(text)
        guard !signedTransaction.isEmpty else {
            throw Problem(JSONError(.missing, path: "signedTransactionInfo"))
        }
        guard signedTransaction.utf8.count <= Self.longestTransaction else {
            throw Problem.tooLarge(field: "signedTransactionInfo", limit: Self.longestTransaction)
        }
    }
}
