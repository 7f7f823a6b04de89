/// Which tokens of an app are accepted.
public struct TokenSettings: Sendable, Equatable {
    /// A key that signs tokens, and the file it is in.
    public struct Key: Sendable, Equatable {
        /// The only algorithms; each key has exactly one (RFC 8725 §3.1).
        public enum Algorithm: String, Sendable, CaseIterable {
            /// HMAC with SHA-256; the file is a secret of at least 32 bytes.
            case hs256 = "HS256"
            /// ECDSA on P-256; the file is a public key in PEM.
            case es256 = "ES256"
            /// RSA PKCS #1 v1.5 with SHA-256; the file is a public key in PEM.
            case rs256 = "RS256"
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

    /// A file with the public keys of a login service (JSON Web Key Set), for ES256 and RS256.
    public struct KeySet: Sendable, Equatable {
        /// The path of the file, resolved against the folder of the app's file.
        public var file: String
        /// Where the app's file names it, for problems.
        var place: Key.Place
    }

    /// The `iss` a token must have.
    public var issuer: String
    /// The `aud` a token must have; no two token kinds of any app share it.
    public var audience: String
    /// The keys.
    public var keys: [Key]
    /// Files with more of them; at least one key or file is there.
    public var keySets: [KeySet]

    /// The files that hold keys.
    var files: [String] { keys.map(\.file) + keySets.map(\.file) }
}
