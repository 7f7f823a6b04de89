import Crypto
import Messages
import Observability

/// Makes of a caller what starter offers know them by: keyed hashes, one under every retained key. No address leaves the
/// gateway.
struct IdentityHasher: Sendable {
    /// A key and its id.
    struct Key: Sendable {
        /// Stored beside every hash made with it.
        let id: String
        /// At least 32 bytes.
        let secret: Secret
    }

    private let keys: [Key]

    /// RFC 5321 §4.5.3.1: 64 bytes of a local part, 255 of a domain, and the @.
    private static let longestAddress = 320

    /// Hashes with all of these keys.
    init(_ keys: [Key]) { self.keys = keys }

    /// The hashes of a caller; nil where the app has no such keys.
    func hashes(of caller: Caller) -> [IdentityHash]? {
        guard !keys.isEmpty else { return nil }
        let name = Self.name(of: caller)
        return keys.map { key in
            IdentityHash(
                keyID: key.id, hash: Hex.encode(HMAC.sha256(key: key.secret.revealBytes(), Array(name.utf8))))
        }
    }

    /// The address, or without one the user id. Different words in front: nobody's id is another one's address.
    static func name(of caller: Caller) -> String {
        normalised(caller.email ?? "").map { "email:" + $0 } ?? "user:" + caller.subject
    }

    /// An address in the form in which two spellings of it are the same: without white space around it, in lower case. Dots
    /// and +tags stay: whether they matter is the mail provider's secret. Nil if it is no address.
    static func normalised(_ address: String) -> String? {
        let text = PlainText.trimmed(address).lowercased()
        let parts = text.split(separator: "@", omittingEmptySubsequences: false)
        guard parts.count == 2, parts.allSatisfy({ !$0.isEmpty }), PlainText.isUsable(text, longest: longestAddress)
        else { return nil }
        return text
    }
}
