/// A service has seen a chain of certificates whose state it does not know, or whose answer ends soon: somebody should
/// ask whether Apple has revoked it. Asked again it does no harm.
public struct ChainCheckRequested: Message {
    /// Routing key.
    public static var type: MessageType { .chainCheckRequested }
    /// The certificate that signs, DER in base64.
    public var leaf: String
    /// The one that issued it, DER in base64.
    public var intermediate: String

    /// Composes the message.
    public init(leaf: String, intermediate: String) {
        self.leaf = leaf
        self.intermediate = intermediate
    }
}

/// What Apple's responders say about a chain. Only Verification may say so (broker permissions).
public struct ChainChecked: Message {
    /// Routing key.
    public static var type: MessageType { .chainChecked }
    /// SHA-256 of leaf and intermediate, one after the other, in hex.
    public var chain: String
    /// Subject of the leaf, for people.
    public var subject: String
    /// Its serial number in hex, for people.
    public var serialNumber: String
    /// When one of the two was revoked (ms since 1970); nil: both are good.
    public var revokedAt: Int64?
    /// Why, as a number of RFC 5280 §5.3.1, if it was said.
    public var reason: Int64?
    /// The time at which the answer about the leaf was known to be right (ms since 1970); an older one never undoes it.
    public var leafAsOf: Int64
    /// The same about the intermediate.
    public var intermediateAsOf: Int64
    /// When the answer ends (ms since 1970).
    public var answerEnds: Int64
    /// From when on it is worth asking again (ms since 1970).
    public var checkAgainAt: Int64

    /// Composes the required part; optional fields are set afterwards.
    public init(
        chain: String, subject: String, serialNumber: String, leafAsOf: Int64, intermediateAsOf: Int64,
        answerEnds: Int64, checkAgainAt: Int64
    ) {
        self.chain = chain
        self.subject = subject
        self.serialNumber = serialNumber
        self.leafAsOf = leafAsOf
        self.intermediateAsOf = intermediateAsOf
        self.answerEnds = answerEnds
        self.checkAgainAt = checkAgainAt
    }
}

/// Question: the chains of certificates that sign for us.
public struct ChainsRequested: Message {
    /// Routing key.
    public static var type: MessageType { .chainsRequested }
    /// Chains at most in one answer, those that end last: Apple uses one or two at a time.
    public static let mostChains = 64

    /// Composes the question.
    public init() {}
}

/// A chain that signs, or has signed, for us.
public struct SignerChainState: Codable, Sendable, Equatable {
    /// SHA-256 of leaf and intermediate, one after the other, in hex.
    public var chain: String
    /// Subject of the leaf, for people.
    public var subject: String
    /// Its serial number in hex, for people.
    public var serialNumber: String
    /// When Verification saw it first (ms since 1970).
    public var firstSeenAt: Int64
    /// When the first of the two certificates ends (ms since 1970); nil: seen by a version that did not write it down,
    /// and not since.
    public var expiresAt: Int64?

    /// Composes it.
    public init(chain: String, subject: String, serialNumber: String, firstSeenAt: Int64, expiresAt: Int64?) {
        self.chain = chain
        self.subject = subject
        self.serialNumber = serialNumber
        self.firstSeenAt = firstSeenAt
        self.expiresAt = expiresAt
    }
}

/// The chains that sign for us.
public struct ChainsAnswered: Message {
    /// Routing key of the type.
    public static var type: MessageType { .chainsAnswered }
    /// At most ``ChainsRequested/mostChains``, the one that ends last first.
    public var chains: [SignerChainState]

    /// Composes the answer.
    public init(chains: [SignerChainState]) { self.chains = chains }
}
