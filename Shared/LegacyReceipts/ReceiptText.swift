public import AppStore
import JOSE
import JSON

/// What a client sent as "the receipt", taken out of its wrappings; nothing is verified here.
public enum ReceiptText: Sendable, Equatable {
    /// The container's bytes.
    case receipt([UInt8])
    /// StoreKit's signed transaction: for the other verifier.
    case signedTransaction([UInt8])

    /// Bytes of a receipt's container; the largest of honest customers have a tenth of it.
    public static let maximumBytes = 1 << 20
    /// Characters of its base64 in a wrapper.
    public static let maximumCharacters = maximumBytes / 3 * 4 + 4_096

    /// Reads base64 (white space between allowed), Unity's JSON around it, or a signed transaction.
    ///
    /// What is sent by mistake again and again is named in the failure: base64 of base64, the transaction receipts of
    /// iOS 6, another store's receipt.
    public init(_ text: [UInt8]) throws(VerificationFailure) {
        let text = try Self.trimmed(text)
        guard text.first == UInt8(ascii: "{") else {
            self = try Self.plain(text)
            return
        }
        let object: JSONObject
        do {
            object = try JSONReader.parseObject(text)
        } catch {
            throw Self.malformed("it begins like Unity's JSON, but is none that is acceptable")
        }
        if let store = object["Store"]?.stringValue, !["AppleAppStore", "MacAppStore"].contains(store) {
            throw Self.malformed("it is a receipt of another store: \(quoted(store))")
        }
        guard let payload = object["Payload"]?.stringValue else {
            throw Self.malformed("it is JSON without a text named Payload")
        }
        self = try Self.plain(try Self.trimmed(Array(payload.utf8)))
    }

    /// Whether bytes begin as signed data does: the name of that kind of content stands within the first few bytes,
    /// behind two headers of at most six bytes each.
    public static func isSignedData(_ bytes: [UInt8]) -> Bool {
        let name = ObjectIdentifier.signedData
        let head = bytes.prefix(name.count + 14)
        return head.indices.contains { head[$0...].starts(with: name) }
    }

    private static func malformed(_ detail: String) -> VerificationFailure {
        VerificationFailure(.format, .format, detail)
    }

    private static func trimmed(_ text: [UInt8]) throws(VerificationFailure) -> [UInt8] {
        guard text.count <= maximumCharacters else {
            throw VerificationFailure(
                .tooLarge, .size, "it has \(text.count) characters, at most \(maximumCharacters) are accepted")
        }
        guard let first = text.firstIndex(where: { !isSpace($0) }), let last = text.lastIndex(where: { !isSpace($0) })
        else { throw malformed("it is empty") }
        return Array(text[first...last])
    }

    private static func isSpace(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0A, 0x0D].contains(byte) }

    private static func plain(_ text: [UInt8]) throws(VerificationFailure) -> ReceiptText {
        if text.starts(with: "eyJ".utf8), text.count(where: { $0 == UInt8(ascii: ".") }) == 2 {
            return .signedTransaction(text)
        }
        guard let bytes = Base64.decode(text[...]) ?? Base64.decode(text.filter { !isSpace($0) }[...]) else {
            throw malformed("it is not base64")
        }
        guard bytes.count <= maximumBytes else {
            throw VerificationFailure(
                .tooLarge, .size, "the receipt has \(bytes.count) bytes, at most \(maximumBytes) are accepted")
        }
        if bytes.first == BERTag.sequence { return .receipt(bytes) }
        if bytes.starts(with: "MII".utf8) || bytes.starts(with: "MIA".utf8) {
            throw malformed("it is base64 of base64: encode the receipt once")
        }
        if bytes.starts(with: "eyJ".utf8) {
            throw malformed("it is base64 of a signed transaction: send that as it is")
        }
        if bytes.first(where: { !isSpace($0) }) == UInt8(ascii: "{") {
            throw malformed("it is a transaction receipt of iOS 6 or JSON in base64: send the app receipt")
        }
        throw malformed("its bytes are no receipt")
    }
}
