public import JSON

/// Apple's number of an error, as the Server API answers it: the first three digits are the HTTP status.
public struct ServerAPIRefusal: Error, Sendable, Equatable {
    /// Apple's number.
    public let code: Int64
    /// Apple's sentence, or one like it.
    public let message: String

    /// An error with Apple's number.
    public init(_ code: Int64, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The HTTP status.
    public var status: Int { Int(code / 10_000) }

    /// ErrorPayload.
    public var json: JSONObject { ["errorCode": .integer(code), "errorMessage": .string(message)] }

    static let transactionNotFound = ServerAPIRefusal(4_040_010, "Transaction id not found.")
    static let invalidTransactionID = ServerAPIRefusal(4_000_006, "Invalid transaction id.")
    static let invalidRevision = ServerAPIRefusal(4_000_005, "Invalid request revision.")
    static let invalidPaginationToken = ServerAPIRefusal(4_000_014, "Invalid pagination token.")
    static let internalError = ServerAPIRefusal(5_000_000, "An unknown error occurred.")
}
