import Glibc
import JOSE
import JSON

/// A file that is said to hold signed data: read within limits, and recognised if it is something else.
enum SignedFile {
    /// The limit for signed data everywhere in the system.
    static let maximumBytes = 64 << 10

    /// At most `limit` + 1 bytes of a file, or of standard input for `-`; nil if it cannot be read.
    static func read(_ path: String, limit: Int) -> [UInt8]? {
        let descriptor = path == "-" ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { if path != "-" { close(descriptor) } }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 16 << 10)
        while bytes.count <= limit {
            let count = Glibc.read(descriptor, &buffer, min(buffer.count, limit + 1 - bytes.count))
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { return nil }
            if count == 0 { break }
            bytes += buffer[0..<count]
        }
        return bytes
    }

    /// Files end with a line feed, and mail adds spaces: both ends are cleaned, the inside is left as it is.
    static func trimmed(_ bytes: [UInt8]) -> [UInt8] {
        let isSpace: (UInt8) -> Bool = { [0x20, 0x09, 0x0a, 0x0d].contains($0) }
        guard let first = bytes.firstIndex(where: { !isSpace($0) }),
            let last = bytes.lastIndex(where: { !isSpace($0) })
        else { return [] }
        return Array(bytes[first...last])
    }

    /// What the file is, if it is clearly something else than a JWS.
    static func explanation(_ bytes: [UInt8]) -> String? {
        if bytes.isEmpty { return "The file is empty." }
        if bytes.first == UInt8(ascii: "{") { return jsonExplanation(bytes) }
        let decoded = decodedBase64(bytes) ?? bytes
        if isCMS(decoded) {
            return "This is not a JWS but a PKCS#7 app receipt (the old form StoreKit kept on the device)."
        }
        if isTransactionReceipt(decoded) {
            return "This is not a JWS but an old transaction receipt (iOS 6 style, from before app receipts)."
        }
        return nil
    }

    private static func jsonExplanation(_ bytes: [UInt8]) -> String {
        if isTransactionReceipt(bytes) {
            return "This is not a JWS but an old transaction receipt (iOS 6 style, from before app receipts)."
        }
        let object = try? JSONReader.parseObject(bytes)
        for field in ["signedPayload", "signedTransactionInfo", "signedAppTransactionInfo"] {
            if object?[field]?.stringValue != nil {
                return "This is a JSON document around signed data: check the value of its field \(field)."
            }
        }
        return "This is a JSON document that nobody signed, not a JWS."
    }

    /// Bytes of a base64 text, lines joined; only the beginning matters, so a cut end is left off.
    private static func decodedBase64(_ bytes: [UInt8]) -> [UInt8]? {
        let text = bytes.filter { ![0x20, 0x09, 0x0a, 0x0d].contains($0) }
        return Base64.decode(text[...]) ?? Base64.decode(text.prefix(text.count / 4 * 4 - 4))
    }

    /// ContentInfo with the content type signedData (RFC 5652 §3, §5): 1.2.840.113549.1.7.2 right at the start.
    private static func isCMS(_ bytes: [UInt8]) -> Bool {
        let signedData: [UInt8] = [0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x07, 0x02]
        guard bytes.first == 0x30 else { return false }
        return (1...6).contains { bytes.dropFirst($0).starts(with: signedData) }
    }

    /// An old property list of the NeXT kind with the two fields every such receipt has, or one of them.
    private static func isTransactionReceipt(_ bytes: [UInt8]) -> Bool {
        guard bytes.first == UInt8(ascii: "{") else { return false }
        let text = String(decoding: bytes.prefix(4096), as: UTF8.self)
        return text.contains("\"purchase-info\" =") || text.contains("\"signing-status\" =")
            || text.contains("\"purchase-info\"=")
    }
}
