/// A receipt that is signed twice: a form that Apple could write tomorrow and Purser's reader does not know today, so that
/// Apple must be asked about it.
public enum DoubledSigner {
    /// The same receipt with its signer twice; nil if the bytes are none that ``ReceiptSigner`` makes with lengths.
    public static func doubled(_ container: [UInt8]) -> [UInt8]? {
        changingSigners(of: container) { signers in signers.count == 1 ? signers + signers : nil }
    }

    /// The receipt of before; nil if it does not have the same signer twice.
    public static func single(_ container: [UInt8]) -> [UInt8]? {
        changingSigners(of: container) { signers in
            signers.count == 2 && signers[0] == signers[1] ? [signers[0]] : nil
        }
    }

    private static func changingSigners(
        of container: [UInt8], _ change: ([[UInt8]]) -> [[UInt8]]?
    ) -> [UInt8]? {
        // ContentInfo { name, [0] { SignedData { version, digests, content, [0] certificates, signers } } }
        guard let info = element(container), let parts = elements(info.content), parts.count == 2,
            let wrapper = element(parts[1]), let data = element(wrapper.content),
            var fields = elements(data.content), let last = fields.last, let set = element(last),
            let signers = elements(set.content), let changed = change(signers)
        else { return nil }
        fields[fields.count - 1] = DER.element(set.tag, Array(changed.joined()))
        let signedData = DER.element(data.tag, Array(fields.joined()))
        return DER.element(info.tag, parts[0] + DER.element(wrapper.tag, signedData))
    }

    /// The only element of some bytes.
    private static func element(_ bytes: [UInt8]) -> (tag: UInt8, content: [UInt8])? {
        guard let parts = elements(bytes), parts.count == 1, let header = header(bytes[...]) else { return nil }
        return (bytes[0], Array(bytes[header.content..<header.end]))
    }

    /// Elements in a row, each whole; nil if they are not DER from beginning to end.
    private static func elements(_ bytes: [UInt8]) -> [[UInt8]]? {
        var found: [[UInt8]] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            guard let header = header(rest) else { return nil }
            found.append(Array(rest[rest.startIndex..<header.end]))
            rest = rest[header.end...]
        }
        return found
    }

    /// Where the first element's content begins, and where it ends.
    private static func header(_ bytes: ArraySlice<UInt8>) -> (content: Int, end: Int)? {
        guard bytes.count >= 2 else { return nil }
        let first = bytes[bytes.startIndex + 1]
        var content = bytes.startIndex + 2
        var length = Int(first)
        if first >= 0x80 {
            let count = Int(first & 0x7F)
            guard (1...4).contains(count), bytes.endIndex - content >= count else { return nil }
            length = bytes[content..<content + count].reduce(0) { $0 << 8 | Int($1) }
            content += count
        }
        guard bytes.endIndex - content >= length else { return nil }
        return (content, content + length)
    }
}
