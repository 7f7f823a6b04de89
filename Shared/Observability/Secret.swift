/// A password, key or token that must never reach a log, an error text or a debugger's dump.
///
/// Every textual form of it is `***`: `description`, `debugDescription`, string interpolation, `dump` and reflection.
/// It is deliberately not `Encodable`: nothing can serialise it by accident. Take the value out by ``reveal()`` at the
/// very call that needs it. The memory is not wiped: Swift may have copied it already.
public struct Secret: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    private let bytes: [UInt8]

    /// Wraps a text secret, kept as UTF-8.
    public init(_ text: String) {
        bytes = Array(text.utf8)
    }

    /// Wraps a binary secret, for example an HMAC key.
    public init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// The secret as text. Bytes that are not UTF-8 become U+FFFD: use ``revealBytes()`` for binary secrets.
    public func reveal() -> String {
        String(decoding: bytes, as: UTF8.self)
    }

    /// The secret as bytes.
    public func revealBytes() -> [UInt8] {
        bytes
    }

    /// The number of bytes, so that settings can demand a minimum length without revealing the value.
    public var count: Int { bytes.count }

    /// Always `***`.
    public var description: String { "***" }

    /// Always `***`.
    public var debugDescription: String { "***" }

    /// A mirror without children, so that `dump` and debuggers show nothing.
    public var customMirror: Mirror {
        Mirror(self, children: [])
    }
}

extension Secret: Equatable {
    /// Compares in a time that depends on the lengths only, so that a comparison gives no prefix away.
    public static func == (left: Secret, right: Secret) -> Bool {
        guard left.bytes.count == right.bytes.count else { return false }
        var difference: UInt8 = 0
        for (one, other) in zip(left.bytes, right.bytes) {
            difference |= one ^ other
        }
        return difference == 0
    }
}
