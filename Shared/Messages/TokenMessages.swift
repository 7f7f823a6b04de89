/// A client asks for its user's own appAccountToken: one a user, for every purchase without an order.
public struct TokenRequested: Message {
    /// Routing key.
    public static var type: MessageType { .tokenRequested }
    /// The app.
    public var app: AppID
    /// The caller.
    public var userID: UserID
    /// The token the gateway drew, lower-case UUID text; stored if the user has none yet.
    public var appAccountToken: String
    /// Who the caller is to starter offers: keyed hashes of the e-mail address, or of the user id where there is none.
    public var identities: [IdentityHash]?

    /// Composes the message.
    public init(app: AppID, userID: UserID, appAccountToken: String, identities: [IdentityHash]? = nil) {
        self.app = app
        self.userID = userID
        self.appAccountToken = appAccountToken
        self.identities = identities
    }
}

/// A user's token exists, stored before it was told to anybody.
public struct TokenIssued: Message {
    /// Routing key.
    public static var type: MessageType { .tokenIssued }
    /// Its customer.
    public var customer: CustomerID
    /// The token, valid for ever.
    public var appAccountToken: String
    /// Which user that is: a hash under a key that only Granting's database has. By it a customer is found again whose row
    /// was lost; absent where there is no user, and in facts of before.
    public var userDigest: String?

    /// Composes the message.
    public init(customer: CustomerID, appAccountToken: String, userDigest: String? = nil) {
        self.customer = customer
        self.appAccountToken = appAccountToken
        self.userDigest = userDigest
    }
}

/// The answer to a token request.
public struct TokenAnswered: Message {
    /// Routing key of the type.
    public static var type: MessageType { .tokenAnswered }
    /// Why there is none; nil when there is one.
    public var code: AnswerCode?
    /// The user's token, the same at every request.
    public var appAccountToken: String?
    /// Starter offers that are used up for this identity, sorted.
    public var usedOffers: [String]

    /// Composes the answer.
    public init(code: AnswerCode? = nil, appAccountToken: String?, usedOffers: [String] = []) {
        self.code = code
        self.appAccountToken = appAccountToken
        self.usedOffers = usedOffers
    }
}

/// A person as starter offers know them: HMAC-SHA-256 of an e-mail address or user id under a key that only gateways have.
public struct IdentityHash: Codable, Sendable, Hashable, Comparable {
    /// Which of the app's keys.
    public var keyID: String
    /// 64 hex digits in lower case.
    public var hash: String

    /// Composes the hash.
    public init(keyID: String, hash: String) {
        self.keyID = keyID
        self.hash = hash
    }

    /// Whether it can be a key in tables: what no gateway of ours makes is left out.
    public var isUsable: Bool {
        (1...64).contains(keyID.utf8.count) && keyID.utf8.allSatisfy { (0x21...0x7E).contains($0) }
            && hash.utf8.count == 64
            && hash.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    }

    /// Byte order, the order in which rows are locked.
    public static func < (left: Self, right: Self) -> Bool { (left.keyID, left.hash) < (right.keyID, right.hash) }
}
