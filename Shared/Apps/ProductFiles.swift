import YAML

/// Where an app's products are, if they are not in its own file: two CSV files, as a game's designers keep them.
public struct ProductFiles: Sendable, Equatable {
    /// What is sold; see docs/guides/catalogue.md.
    public var products: String
    /// What each reward is.
    public var rewards: String

    /// Two paths.
    public init(products: String, rewards: String) {
        (self.products, self.rewards) = (products, rewards)
    }

    /// The longest file: ten thousand products.
    private static let fileLimit = 1 << 20

    /// The bytes of both; problems where one cannot be read.
    func read(_ problems: YAMLProblems) -> (products: [UInt8], rewards: [UInt8])? {
        let bytes = [products, rewards].map { file -> [UInt8]? in
            do throws(BoundedFile.Failure) {
                return try BoundedFile.read(file, limit: Self.fileLimit).bytes
            } catch {
                problems.add(
                    "the file cannot be read: \(error.reason)", at: YAMLPosition(file: file, line: 1, column: 1))
                return nil
            }
        }
        guard let products = bytes[0], let rewards = bytes[1] else { return nil }
        return (products, rewards)
    }
}
