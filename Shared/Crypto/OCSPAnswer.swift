/// Why a certificate was revoked (RFC 5280 §5.3.1).
public struct RevocationReason: RawRepresentable, Hashable, Sendable {
    /// The number in the answer.
    public let rawValue: Int
    /// Wraps a number.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// The key is, or may be, in other hands.
    public static let keyCompromise = RevocationReason(rawValue: 1)
    /// The key of an authority is.
    public static let authorityCompromise = RevocationReason(rawValue: 2)
    /// Replaced by another one.
    public static let superseded = RevocationReason(rawValue: 4)
    /// Not needed any more.
    public static let cessationOfOperation = RevocationReason(rawValue: 5)
    /// For now: the only one that may be taken back.
    public static let hold = RevocationReason(rawValue: 6)
    /// What an attribute authority vouches for is not to be believed.
    public static let attributeCompromise = RevocationReason(rawValue: 10)

    /// Whether somebody else may have signed with the key: then the date in what it signed proves nothing either.
    public var isCompromise: Bool {
        [.keyCompromise, .authorityCompromise, .attributeCompromise].contains(self)
    }
}

/// What a responder says about one certificate, after every check. Times are seconds since 1970.
public struct OCSPAnswer: Sendable, Equatable {
    /// What it says.
    public enum Status: Sendable, Equatable {
        /// Not revoked.
        case good
        /// Revoked since then; the reason if one is given.
        case revoked(at: Int64, reason: RevocationReason?)
        /// The responder does not know the certificate.
        case unknown
    }

    /// What it says.
    public let status: Status
    /// The time at which this was known to be right.
    public let thisUpdate: Int64
    /// When newer information will be there; nil: always.
    public let nextUpdate: Int64?
    /// When it was signed.
    public let producedAt: Int64

    /// Composes an answer; for tests of callers.
    public init(status: Status, thisUpdate: Int64, nextUpdate: Int64?, producedAt: Int64) {
        self.status = status
        self.thisUpdate = thisUpdate
        self.nextUpdate = nextUpdate
        self.producedAt = producedAt
    }
}
