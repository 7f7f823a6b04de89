import Crypto
public import Messages

/// Something that became true with a state change, stored in the same transaction and published afterwards.
///
/// Its id follows from type, key, revision and cause, so every copy that is ever published has the same id: events are
/// delivered at least once, and whoever reads them drops what was seen.
public struct Fact: Sendable, Equatable {
    /// Deterministic UUID text.
    public let id: MessageID
    /// The message that caused it.
    public let cause: MessageID
    /// What it is about, unique within the type, e.g. `Production/2000000888888888`.
    public let key: String
    /// Which change of `key` this is; the same key may have several facts over time.
    public let revision: Int64
    /// What kind of fact.
    public let type: MessageType
    /// Schema version of the body.
    public let version: Int
    /// The app it speaks of.
    public let app: AppID?
    /// Apple's environment it speaks of.
    public let environment: StoreEnvironment?
    /// One id from the HTTP request to here.
    public let correlationID: String
    /// When it came to be (ms since 1970).
    public let occurredAt: Int64
    /// JSON.
    public let body: [UInt8]

    /// A fact about `key` caused by `incoming`.
    public init<M: Message>(
        _ message: M, key: String, revision: Int64 = 0, app: AppID?, environment: StoreEnvironment?,
        causedBy incoming: MessageHeader, occurredAt: Int64
    ) throws {
        self.init(
            type: message.messageType, version: M.version, key: key, revision: revision, app: app,
            environment: environment,
            cause: incoming.id, correlationID: incoming.correlationID, occurredAt: occurredAt,
            body: try MessageCoding.encode(message))
    }

    /// A fact read back from its row.
    init(
        type: MessageType, version: Int, key: String, revision: Int64, app: AppID?, environment: StoreEnvironment?,
        cause: MessageID, correlationID: String, occurredAt: Int64, body: [UInt8]
    ) {
        self.type = type
        self.version = version
        self.key = key
        self.revision = revision
        self.app = app
        self.environment = environment
        self.cause = cause
        self.correlationID = correlationID
        self.occurredAt = occurredAt
        self.body = body
        id = Self.identifier(type: type, key: key, revision: revision, cause: cause)
    }

    /// A UUID of the "custom" version 8 (RFC 9562 §5.8) made of SHA-256 over the four parts.
    package static func identifier(type: MessageType, key: String, revision: Int64, cause: MessageID) -> MessageID {
        let name = [type.rawValue, key, String(revision), cause.rawValue].joined(separator: "\n")
        var bytes = Array(SHA256.hash(Array(name.utf8)).prefix(16))
        bytes[6] = (bytes[6] & 0x0F) | 0x80
        bytes[8] = (bytes[8] & 0x3F) | 0x80
        return MessageID(UUIDText.format(bytes))
    }
}
