/// Texts between Swift and C.
enum CText {
    /// The text of a field; libprotobuf-c does not look whether it is UTF-8.
    static func string(_ pointer: UnsafeMutablePointer<CChar>?) throws(GameMessageError) -> String {
        guard let pointer else { return "" }
        guard let text = String(validatingCString: pointer) else { throw .malformed }
        return text
    }

    /// Lends texts as C strings that C may not change, though its fields are not declared so.
    static func lend<Result>(
        _ texts: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Result
    ) -> Result {
        var bytes: [CChar] = []
        var starts: [Int] = []
        for text in texts {
            starts.append(bytes.count)
            bytes += text.utf8.map { CChar(bitPattern: $0) } + [0]
        }
        return bytes.withUnsafeMutableBufferPointer { buffer in
            body(starts.map { start in buffer.baseAddress.map { $0 + start } })
        }
    }
}
