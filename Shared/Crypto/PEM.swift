import COpenSSL

/// Textual encoding of keys and certificates (RFC 7468). Any thread.
public enum PEM {
    /// One block of a PEM text.
    public struct Block: Sendable, Equatable {
        /// The word after BEGIN, for example `CERTIFICATE`.
        public var label: String
        /// The DER bytes inside.
        public var der: [UInt8]
    }

    /// Bytes a line holds before encoding: 64 characters of text, as RFC 7468 §2 wants.
    private static let bytesPerLine = 48

    /// All blocks of `text`, in order. Encrypted blocks are refused, never asked a passphrase for.
    public static func decode(_ text: String) throws(CryptoError) -> [Block] {
        let bytes = Array(text.utf8)
        var blocks: [Block] = []
        var failure: CryptoError?
        bytes.withUnsafeBytes { buffer in
            guard let source = BIO_new_mem_buf(buffer.baseAddress, Int32(clamping: buffer.count)) else {
                failure = OpenSSLErrorQueue.failure("PEM buffer")
                return
            }
            defer { BIO_free(source) }
            while let block = next(from: source, failure: &failure) { blocks.append(block) }
        }
        OpenSSLErrorQueue.clear()  // The end of the text is reported as an error.
        if let failure { throw failure }
        guard !blocks.isEmpty else { throw .invalidPEM(reason: "no complete block found") }
        return blocks
    }

    private static func next(from source: OpaquePointer, failure: inout CryptoError?) -> Block? {
        var name: UnsafeMutablePointer<CChar>?
        var header: UnsafeMutablePointer<CChar>?
        var data: UnsafeMutablePointer<UInt8>?
        var length = 0
        guard PEM_read_bio(source, &name, &header, &data, &length) == 1 else { return nil }
        defer {
            CRYPTO_free(name, #fileID, #line)
            CRYPTO_free(header, #fileID, #line)
            CRYPTO_clear_free(data, length, #fileID, #line)
        }
        guard let name, let header, let data else { return nil }
        let label = String(cString: name)
        guard header.pointee == 0, !label.hasPrefix("ENCRYPTED") else {
            failure = .invalidPEM(reason: "the block is encrypted")
            return nil
        }
        return Block(label: label, der: Array(UnsafeBufferPointer(start: data, count: length)))
    }

    /// The text of one block.
    public static func encode(label: String, der: [UInt8]) -> String {
        var text = "-----BEGIN \(label)-----\n"
        for start in stride(from: 0, to: der.count, by: bytesPerLine) {
            let line = Array(der[start..<min(start + bytesPerLine, der.count)])
            // EVP_EncodeBlock writes four characters for three bytes, and a NUL.
            var characters = [UInt8](repeating: 0, count: (line.count + 2) / 3 * 4 + 1)
            let length = EVP_EncodeBlock(&characters, line, Int32(line.count))
            text += String(decoding: characters.prefix(Int(length)), as: UTF8.self) + "\n"
        }
        return text + "-----END \(label)-----\n"
    }
}
