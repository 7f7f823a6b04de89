/// Writes elements of DER (X.690), and of BER where Apple's tools write that.
public enum DER {
    /// An element with everything it holds.
    public static func element(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        if content.count < 0x80 { return [tag, UInt8(content.count)] + content }
        var length: [UInt8] = []
        var rest = content.count
        while rest > 0 {
            length.insert(UInt8(rest & 0xFF), at: 0)
            rest >>= 8
        }
        return [tag, 0x80 | UInt8(length.count)] + length + content
    }

    /// The same with an indefinite length, which is BER only.
    public static func indefinite(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] { [tag, 0x80] + content + [0, 0] }

    /// An integer in as few bytes as it needs.
    public static func integer(_ value: Int64) -> [UInt8] {
        var bytes = (0..<8).map { UInt8(truncatingIfNeeded: value >> (56 - 8 * $0)) }
        while bytes.count > 1, bytes[0] == 0 && bytes[1] < 0x80 || bytes[0] == 0xFF && bytes[1] >= 0x80 {
            bytes.removeFirst()
        }
        return element(0x02, bytes)
    }

    /// Text as UTF-8.
    public static func utf8(_ text: String) -> [UInt8] { element(0x0C, Array(text.utf8)) }
    /// Text as ASCII: the dates in receipts.
    public static func ia5(_ text: String) -> [UInt8] { element(0x16, Array(text.utf8)) }
    /// Bytes.
    public static func octets(_ bytes: [UInt8]) -> [UInt8] { element(0x04, bytes) }
    /// Elements in their order.
    public static func sequence(_ elements: [UInt8]...) -> [UInt8] { element(0x30, elements.flatMap { $0 }) }
}
