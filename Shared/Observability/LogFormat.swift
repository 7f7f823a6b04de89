/// How log lines are written.
public enum LogFormat: String, Sendable, CaseIterable {
    /// A JSON object a line, for machines.
    case json
    /// Text for people: `time level service: message | key=value | …`, and the events of purchases as document C shows
    /// them, `[IAP] VerifyRequest | userId=… | …`.
    case text
}

/// Builds one line of text.
struct TextLine {
    private(set) var bytes: [UInt8] = []

    /// Appends words as they are; only for what this module and its callers' constants say.
    mutating func append(words: String) { bytes.append(contentsOf: words.utf8) }

    /// Appends ` | key=value`. A text that could be taken for more than one value is quoted as in JSON.
    mutating func append(_ key: String, _ value: LogValue, limit: Int) {
        append(words: " | \(key)=")
        var quoted = JSONLine()
        quoted.append("", value, limit: limit)
        // `{"":` and the value.
        let written = quoted.bytes.dropFirst(4)
        if case .string(let text) = value, Self.isPlain(text), text.utf8.count <= limit {
            append(words: text)
        } else {
            bytes.append(contentsOf: written)
        }
    }

    /// Ends the line.
    consuming func finish() -> [UInt8] {
        bytes.append(UInt8(ascii: "\n"))
        return bytes
    }

    /// Visible ASCII without what separates or quotes.
    private static func isPlain(_ text: String) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy { byte in
                (0x21...0x7E).contains(byte) && !#"|="\"#.utf8.contains(byte)
            }
    }

    /// `user.id` as document C writes it: `userId`.
    static func camelCase(_ key: String) -> String {
        let parts = key.split(separator: ".")
        return parts.dropFirst().reduce(String(parts.first ?? "")) { $0 + $1.prefix(1).uppercased() + $1.dropFirst() }
    }
}
