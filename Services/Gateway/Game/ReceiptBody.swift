import GameProtocol
import JSON
import Messages

/// A receipt and the product it is sent for: the body of `POST /iap/verify`, and `C2S_IAPVerify`.
struct ReceiptBody: Equatable {
    /// As the client has it: base64, Unity's JSON around it, or a signed transaction. Verification's matter.
    let receipt: String
    /// What was bought.
    let productID: ProductID

    /// Longest receipt in bytes of text: 1 MiB in base64, and Unity's JSON around it.
    static let longestReceipt = (1 << 20) / 3 * 4 + 4_096
    /// Longest body in bytes: the receipt with quotes and slashes escaped, and the product. As long as a message of a
    /// socket may be.
    static let longestBody = 1_500_000
    /// Longest product id in bytes, as in orders.
    private static let longestProductID = OrderBody.longestProductID

    /// Reads the JSON; members are named as protobuf's JSON form names them, or as in the `.proto`.
    init(_ body: JSONObject) throws(Problem) {
        let isOriginal = body["productId"] == nil && body["product_id"] != nil
        let (receipt, product) = try JSONBody.members { () throws(JSONError) -> (String, String) in
            (try body.string("receipt"), try body.string(isOriginal ? "product_id" : "productId"))
        }
        try self.init(receipt: receipt, productID: product, productField: isOriginal ? "product_id" : "productId")
    }

    /// Reads the message.
    init(_ question: VerifyQuestion) throws(Problem) {
        try self.init(receipt: question.receipt, productID: question.productID, productField: "product_id")
    }

    private init(receipt: String, productID: String, productField: String) throws(Problem) {
        guard PlainText.isUsable(productID, longest: Self.longestProductID) else {
            throw Problem(JSONError(.outOfRange, path: productField))
        }
        guard receipt.utf8.count <= Self.longestReceipt else {
            throw Problem.tooLarge(field: "receipt", limit: Self.longestReceipt)
        }
        let text = PlainText.trimmed(receipt)
        guard !text.isEmpty else { throw Problem(JSONError(.missing, path: "receipt")) }
        self.receipt = text
        self.productID = ProductID(productID)
    }
}
