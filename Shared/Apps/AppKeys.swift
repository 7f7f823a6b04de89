import Crypto
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
        /// HS256: the secret, at least 32 bytes. ES256: a P-256 SubjectPublicKeyInfo in DER.
        public let material: Secret
    }

    /// Keys of login tokens, at least one.
    public let login: [Key]
    /// Keys of service tokens; empty when no server of the app may call.
    public let service: [Key]

    /// No key file is longer: a PEM public key has 180 bytes.
    private static let fileLimit = 16 << 10
    /// RFC 7518 §3.2: a key at least as long as the hash.
    private static let shortestSecret = 32

    /// Reads the key files of an app. Blocks for file access.
    ///
    /// Refused: secrets that group or others can read or write (mode & 077), public keys they can write (mode & 022),
    /// secrets under 32 bytes, what is no P-256 public key in PEM. One line break at the end of a secret's file is not
    /// part of the secret.
    ///
    /// - Returns: the keys, or every mistake at the line that names the file.
    public static func load(_ app: AppConfiguration) -> Result<AppKeys, AppsError> {
        let problems = YAMLProblems()
        let login = app.loginTokens.keys.compactMap { read($0, problems) }
        let service = (app.serviceTokens?.keys ?? []).compactMap { read($0, problems) }
        guard problems.isEmpty else { return .failure(AppsError(kind: .invalidKey, problems: problems.all)) }
        return .success(AppKeys(login: login, service: service))
    }

    private static func read(_ key: TokenSettings.Key, _ problems: YAMLProblems) -> Key? {
        let place = YAMLPosition(file: key.place.file, line: key.place.line, column: key.place.column)
        do throws(BoundedFile.Failure) {
            let content = try BoundedFile.read(key.file, limit: fileLimit)
            let material = key.algorithm == .hs256 ? try secret(content) : try publicKey(content)
            return Key(id: key.id, algorithm: key.algorithm, material: Secret(bytes: material))
        } catch {
            problems.add("key \(key.id), \(key.file): \(error.reason)", at: place)
            return nil
        }
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

    private static func publicKey(_ content: BoundedFile.Content) throws(BoundedFile.Failure) -> [UInt8] {
        guard content.mode & 0o022 == 0 else {
            throw .init(reason: "others than its owner may change it (mode \(octal(content.mode))); chmod 0644")
        }
        guard let pem = String(validating: content.bytes, as: UTF8.self),
            let der = try? P256.PublicKey(pem: pem).derRepresentation()
        else { throw .init(reason: "it is no P-256 public key in PEM (BEGIN PUBLIC KEY)") }
        return der
    }

    private static func octal(_ mode: UInt32) -> String {
        "0" + String(mode, radix: 8)
    }
}
