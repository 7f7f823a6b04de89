/// Apple's number of an error. Numbers Apple will add are kept as they are.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/error-codes.
public struct ServerAPIErrorCode: RawRepresentable, Hashable, Sendable {
    /// Apple's number; its first three digits are the HTTP status.
    public let rawValue: Int64

    /// Keeps any number.
    public init(rawValue: Int64) { self.rawValue = rawValue }

    /// The transaction is not known in this environment (yet: right after a purchase it may be the other one).
    public static let transactionIDNotFound = Self(rawValue: 4_040_010)
    /// Too many requests in this hour.
    public static let rateLimitExceeded = Self(rawValue: 4_290_000)
    /// A token of paging has become too old: begin again.
    public static let paginationTokenExpired = Self(rawValue: 4_000_017)

    /// Apple's name in upper case; nil for a number that was not documented when this was written.
    public var name: String? { Self.names[rawValue] }

    /// Whether the same request may succeed later: the numbers Apple says so of, the limit, and every unknown failure of
    /// its servers.
    public var isRetryable: Bool {
        switch rawValue {
        case 4_040_002, 4_040_004, 4_040_006, 4_290_000: true
        default: (5_000_000..<6_000_000).contains(rawValue)
        }
    }
}
