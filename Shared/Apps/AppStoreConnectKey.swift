public import Crypto
import YAML

/// The key of kind "In-App Purchase" that an app calls Apple's Server API with.
///
/// Every service that calls Apple reads it for itself, so the file must be readable by that service's user alone; two
/// services under two users need a copy each.
public struct AppStoreConnectKey: Sendable, Equatable {
    /// The issuer id of App Store Connect, "Users and Access", "Integrations", "In-App Purchase".
    public var issuerID: String
    /// The id of the key, on the same page.
    public var keyID: String
    /// The path of the `.p8` file, resolved against the folder of the app's file.
    public var file: String
    /// Where the app's file names it, for problems.
    var place: TokenSettings.Key.Place

    /// Apple's `.p8` files have 257 bytes.
    private static let fileLimit = 16 << 10

    /// Reads the key. Blocks for file access.
    ///
    /// Refused: files that group or others can read or write (mode & 077), what is no P-256 private key in PEM.
    public func load() -> Result<P256.PrivateKey, AppsError> {
        let problems = YAMLProblems()
        do throws(BoundedFile.Failure) {
            let content = try BoundedFile.read(file, limit: Self.fileLimit)
            guard content.mode & 0o077 == 0 else {
                throw .init(
                    reason: "others than its owner may use it (mode 0\(String(content.mode, radix: 8))); chmod 0400")
            }
            guard let pem = String(validating: content.bytes, as: UTF8.self), let key = try? P256.PrivateKey(pem: pem)
            else {
                throw .init(reason: "it is no P-256 private key in PEM (BEGIN PRIVATE KEY), as App Store Connect gives")
            }
            return .success(key)
        } catch {
            problems.add(
                "App Store Connect key \(keyID), \(file): \(error.reason)",
                at: YAMLPosition(file: place.file, line: place.line, column: place.column))
            return .failure(AppsError(kind: .invalidKey, problems: problems.all))
        }
    }
}
