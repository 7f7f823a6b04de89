/// Rules for short texts that come from outside and end up in keys.
enum PlainText {
    /// Whether `text` has 1…`longest` bytes and no control characters (C0, DEL, C1).
    static func isUsable(_ text: String, longest: Int) -> Bool {
        (1...longest).contains(text.utf8.count)
            && text.unicodeScalars.allSatisfy { $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) }
    }

    /// `text` without ASCII white space at either end: what a client copied a line break with.
    static func trimmed(_ text: String) -> String {
        let isBlank = { (byte: UInt8) in byte == 0x20 || (0x09...0x0D).contains(byte) }
        let bytes = text.utf8
        guard let start = bytes.firstIndex(where: { !isBlank($0) }),
            let last = bytes.lastIndex(where: { !isBlank($0) })
        else { return "" }
        return String(text[start...last])
    }
}
