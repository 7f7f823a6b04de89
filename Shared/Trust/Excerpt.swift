/// The beginning of a refused text.
public enum Excerpt {
    /// Bytes of a refused text that are kept.
    public static let limit = 4_096

    /// The beginning of `text` that PostgreSQL can keep: no NUL, whole characters.
    public static func of(_ text: String, limit: Int = Self.limit) -> String {
        String(decoding: text.utf8.prefix(limit), as: UTF8.self).filter { $0 != "\0" }
    }
}
