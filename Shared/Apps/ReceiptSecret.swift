public import Observability
import YAML

/// The app's shared secret of App Store Connect ("App Information", "App-Specific Shared Secret"): Apple's
/// `verifyReceipt` wants it for receipts with subscriptions in them.
public struct ReceiptSecret: Sendable, Equatable {
    /// The path of its file, resolved against the folder of the app's file.
    public var file: String
    /// Where the app's file names it, for problems.
    var place: TokenSettings.Key.Place

    init(file: String, place: TokenSettings.Key.Place) {
        self.file = file
        self.place = place
    }

    /// A file that no app's file names, for tests.
    package init(file: String) {
        self.init(file: file, place: TokenSettings.Key.Place(file: file, line: 1, column: 1))
    }

    /// Apple's secrets are 32 hexadecimal digits; a little room for others, none for whole files.
    private static let lengths = 16...128

    /// Reads the secret. Blocks for file access.
    ///
    /// Refused: files that group or others can read or write (mode & 077), what is no line of visible ASCII.
    public func load() -> Result<Secret, AppsError> {
        let problems = YAMLProblems()
        do throws(BoundedFile.Failure) {
            let content = try BoundedFile.read(file, limit: 4_096)
            guard content.mode & 0o077 == 0 else {
                throw .init(
                    reason: "others than its owner may use it (mode 0\(String(content.mode, radix: 8))); chmod 0400")
            }
            var bytes = content.bytes
            while let last = bytes.last, last == 0x0A || last == 0x0D { bytes.removeLast() }
            guard Self.lengths.contains(bytes.count), bytes.allSatisfy({ (0x21...0x7E).contains($0) }) else {
                throw .init(reason: "it is no shared secret as App Store Connect shows it (32 digits)")
            }
            return .success(Secret(bytes: bytes))
        } catch {
            problems.add(
                "shared secret for verifyReceipt, \(file): \(error.reason)",
                at: YAMLPosition(file: place.file, line: place.line, column: place.column))
            return .failure(AppsError(kind: .invalidKey, problems: problems.all))
        }
    }
}
