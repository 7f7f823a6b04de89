import Crypto
import JOSE
public import Observability
import YAML

/// The keys that an app's tokens are checked with, read from their files.
public struct AppKeys: Sendable {
    /// One key.
    public struct Key: Sendable {
        /// The `kid` that selects it.
        public let id: String
        /// Its algorithm.
        public let algorithm: TokenSettings.Key.Algorithm
        /// HS256: the secret, at least 32 bytes. ES256, RS256: a SubjectPublicKeyInfo in DER.
        public let material: Secret
    }

    /// Keys of login tokens, at least one.
    public let login: [Key]
    /// Keys that people are hashed with for starter offers.
    public let identity: [Key]
    /// Keys of service tokens; empty when no server of the app may call.
    public let service: [Key]

    /// No key file is longer: a PEM public key has 180 to 1,500 bytes, a set of keys some kilobytes.
    private static let fileLimit = 64 << 10
    /// RFC 7518 §3.2: a key at least as long as the hash.
    private static let shortestSecret = 32

    /// Reads the key files of an app. Blocks for file access.
    ///
    /// Refused: secrets that group or others can read or write (mode & 077), public keys they can write (mode & 022),
    /// secrets under 32 bytes, what is no P-256 or RSA public key in PEM, or no usable set of them. One line break at the end of a secret's file is not
    /// part of the secret.
    ///
    /// - Returns: the keys, or every mistake at the line that names the file.
    public static func load(_ app: AppConfiguration) -> Result<AppKeys, AppsError> {
        let problems = YAMLProblems()
        let login = read(app.loginTokens, problems)
        let service = app.serviceTokens.map { read($0, problems) } ?? []
        let identity = app.identityKeys.compactMap { read($0, problems) }
        guard problems.isEmpty else { return .failure(AppsError(kind: .invalidKey, problems: problems.all)) }
        return .success(AppKeys(login: login, identity: identity, service: service))
    }

    private static func read(_ settings: TokenSettings, _ problems: YAMLProblems) -> [Key] {
        settings.keys.compactMap { read($0, problems) } + settings.keySets.flatMap { read($0, problems) }
    }

    private static func read(_ key: TokenSettings.Key, _ problems: YAMLProblems) -> Key? {
        do throws(BoundedFile.Failure) {
            let content = try BoundedFile.read(key.file, limit: fileLimit)
            let material =
                switch key.algorithm {
                case .hs256: try secret(content)
                case .es256: try elliptic(content)
                case .rs256: try rsa(content)
                }
            return Key(id: key.id, algorithm: key.algorithm, material: Secret(bytes: material))
        } catch {
            problems.add("key \(key.id), \(key.file): \(error.reason)", at: position(key.place))
            return nil
        }
    }

    private static func read(_ set: TokenSettings.KeySet, _ problems: YAMLProblems) -> [Key] {
        do throws(BoundedFile.Failure) {
            let content = try BoundedFile.read(set.file, limit: fileLimit)
            try checkWriters(content)
            do {
                return try JSONWebKeySet.parse(content.bytes).map { key in
                    switch key.material {
                    case .es256(let material):
                        Key(id: key.id, algorithm: .es256, material: Secret(bytes: try material.derRepresentation()))
                    case .rs256(let material):
                        Key(id: key.id, algorithm: .rs256, material: Secret(bytes: try material.derRepresentation()))
                    }
                }
            } catch {
                throw .init(reason: (error as? JSONWebKeySet.Failure)?.reason ?? "its keys cannot be used")
            }
        } catch {
            problems.add("\(set.file): \(error.reason)", at: position(set.place))
            return []
        }
    }

    private static func position(_ place: TokenSettings.Key.Place) -> YAMLPosition {
        YAMLPosition(file: place.file, line: place.line, column: place.column)
    }

    private static func secret(_ content: BoundedFile.Content) throws(BoundedFile.Failure) -> [UInt8] {
        guard content.mode & 0o077 == 0 else {
            throw .init(reason: "others than its owner may use it (mode \(octal(content.mode))); chmod 0400")
        }
        var bytes = content.bytes
        if bytes.last == 0x0A {
            bytes.removeLast()
            if bytes.last == 0x0D { bytes.removeLast() }
        }
        guard bytes.count >= shortestSecret else {
            throw .init(reason: "the secret has \(bytes.count) bytes, at least \(shortestSecret) are needed")
        }
        return bytes
    }

    private static func elliptic(_ content: BoundedFile.Content) throws(BoundedFile.Failure) -> [UInt8] {
        try checkWriters(content)
        guard let pem = String(validating: content.bytes, as: UTF8.self),
            let der = try? P256.PublicKey(pem: pem).derRepresentation()
        else { throw .init(reason: "it is no P-256 public key in PEM (BEGIN PUBLIC KEY)") }
        return der
    }

    private static func rsa(_ content: BoundedFile.Content) throws(BoundedFile.Failure) -> [UInt8] {
        try checkWriters(content)
        guard let pem = String(validating: content.bytes, as: UTF8.self),
            let der = try? RSA.PublicKey(pem: pem).derRepresentation()
        else {
            throw .init(reason: "it is no RSA public key of 2,048 to 8,192 bits in PEM (BEGIN PUBLIC KEY)")
        }
        return der
    }

    /// Whoever can write a key file can log in as anybody.
    private static func checkWriters(_ content: BoundedFile.Content) throws(BoundedFile.Failure) {
        guard content.mode & 0o022 == 0 else {
            throw .init(reason: "others than its owner may change it (mode \(octal(content.mode))); chmod 0644")
        }
    }

    private static func octal(_ mode: UInt32) -> String {
        "0" + String(mode, radix: 8)
    }
}
