import FoundationEssentials

/// A piece of text that names one kind of thing, so that a user id can never be passed where a transaction id is meant.
///
/// Ids stay text from end to end: transaction ids exceed 2^53 and must survive JSON, AMQP and SQL digit for digit.
/// On the wire an identifier is its plain string.
public struct Identifier<Kind>: Hashable, Sendable, Comparable, Codable, CustomStringConvertible {
    /// The text itself, exactly as it was received.
    public let rawValue: String

    /// Wraps `rawValue`; no check is made here, borders check their own input.
    public init(_ rawValue: String) { self.rawValue = rawValue }

    /// Reads the plain string.
    public init(from decoder: any Decoder) throws {
        rawValue = try decoder.singleValueContainer().decode(String.self)
    }

    /// Writes the plain string.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }

    /// Byte by byte, as PostgreSQL compares. Swift's own equality takes `é` written as one code point and as two for the
    /// same text: two users whose ids only look alike would share a wallet wherever an id is a key in memory.
    public static func == (left: Self, right: Self) -> Bool { left.rawValue.isSameBytes(as: right.rawValue) }

    /// Fits `==`.
    public func hash(into hasher: inout Hasher) { rawValue.hashBytes(into: &hasher) }

    /// Byte order, the order in which rows are locked; equal to PostgreSQL's `COLLATE "C"`.
    public static func < (left: Self, right: Self) -> Bool {
        left.rawValue.utf8.lexicographicallyPrecedes(right.rawValue.utf8)
    }

    /// The text itself.
    public var description: String { rawValue }
}

/// The kinds of things that have identifiers. Never instantiated.
public enum IdentifierKind {
    /// An app of this deployment, the `id` of its `apps/<id>.yaml`.
    public enum App {}
    /// A user of an app, as the app's login tokens name it.
    public enum User {}
    /// A wallet owner inside Granting: a random UUID, the only name of a person that facts carry.
    public enum Customer {}
    /// One purchase as Apple numbers it; unique within an environment.
    public enum Transaction {}
    /// An order (a "pre-order" of the client before it asks StoreKit).
    public enum Order {}
    /// Something a wallet holds, such as `DANBING`.
    public enum Asset {}
    /// A product id of App Store Connect.
    public enum Product {}
    /// A message on the broker.
    public enum Message {}
}

/// An app of this deployment.
public typealias AppID = Identifier<IdentifierKind.App>
/// A user of an app, as its login tokens name it.
public typealias UserID = Identifier<IdentifierKind.User>
/// A wallet owner (lower-case UUID text).
public typealias CustomerID = Identifier<IdentifierKind.Customer>
/// Apple's transactionId.
public typealias TransactionID = Identifier<IdentifierKind.Transaction>
/// An order number, `IAP` + UTC date + 12 digits.
public typealias OrderNumber = Identifier<IdentifierKind.Order>
/// An asset of a wallet.
public typealias AssetID = Identifier<IdentifierKind.Asset>
/// A product id of App Store Connect.
public typealias ProductID = Identifier<IdentifierKind.Product>
/// A message id (lower-case UUID text).
public typealias MessageID = Identifier<IdentifierKind.Message>

extension String {
    /// Whether two texts have the same UTF-8, not only the same look (Unicode's canonical equivalence).
    package func isSameBytes(as other: String) -> Bool { utf8.elementsEqual(other.utf8) }

    /// Feeds the UTF-8 into `hasher`; goes with ``isSameBytes(as:)``.
    package func hashBytes(into hasher: inout Hasher) {
        var text = self
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        // No UTF-8 holds this byte, so that the next part of a key cannot run into this one.
        hasher.combine(0xFF as UInt8)
    }
}
