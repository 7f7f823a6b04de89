/// Which tokens of an app are accepted.
public struct TokenSettings: Sendable, Equatable {
    /// A key that signs tokens, and the file it is in.
    public struct Key: Sendable, Equatable {
        /// The only two algorithms; each key has exactly one (RFC 8725 §3.1).
        public enum Algorithm: String, Sendable, CaseIterable {
            /// HMAC with SHA-256; the file is a secret of at least 32 bytes.
            case hs256 = "HS256"
            /// ECDSA on P-256; the file is a public key in PEM.
            case es256 = "ES256"
        }

        /// The `kid` that selects it.
        public var id: String
        /// Its algorithm.
        public var algorithm: Algorithm
        /// The path of its file, resolved against the folder of the app's file.
        public var file: String
        /// Where the app's file names it, for problems.
        var place: Place

        /// A place compares equal to every other: settings are equal when they mean the same.
        struct Place: Sendable, Equatable {
            var file: String
            var line: Int
            var column: Int

            static func == (left: Place, right: Place) -> Bool { true }
        }
    }

    /// The `iss` a token must have.
    public var issuer: String
    /// The `aud` a token must have; no two token kinds of any app share it.
    public var audience: String
    /// The keys, at least one.
    public var keys: [Key]
}
