/// Reads one YAML document strictly: no anchors, aliases, merge keys, tags, directives, duplicate or complex keys.
///
/// What remains is what people mean by YAML, and means the same to every reader. Mistakes are collected, not thrown.
public enum YAMLReader {
    /// How much is accepted.
    public struct Limits: Sendable, Equatable {
        /// The longest file in bytes.
        public var maximumBytes: Int
        /// The deepest nesting; the outermost sequence or mapping has depth 1.
        public var maximumDepth: Int

        /// 1 MiB and 32 levels are far more than a catalogue of thousands of products needs.
        public init(maximumBytes: Int = 1 << 20, maximumDepth: Int = 32) {
            self.maximumBytes = maximumBytes
            self.maximumDepth = maximumDepth
        }
    }

    /// Reads a document.
    ///
    /// - Parameters:
    ///   - file: the name used in problems.
    ///   - problems: receives every mistake.
    /// - Returns: the root, or nil if the text ends before it is complete. A root is returned also when mistakes were
    ///   found that do not stop reading (a duplicate key: its first value stays), so that the rest can be checked too.
    public static func parse(
        _ bytes: [UInt8], file: String, problems: YAMLProblems, limits: Limits = Limits()
    ) -> YAMLNode? {
        let start = YAMLPosition(file: file, line: 1, column: 1)
        guard bytes.count <= limits.maximumBytes else {
            problems.add("the file is longer than \(limits.maximumBytes) bytes", at: start)
            return nil
        }
        guard !bytes.starts(with: [0xEF, 0xBB, 0xBF]) else {
            problems.add("the file starts with a byte order mark; save it as UTF-8 without one", at: start)
            return nil
        }
        return EventReader.withParser(bytes, file: file, problems: problems) { reader in
            var builder = TreeBuilder(reader: reader, problems: problems, maximumDepth: limits.maximumDepth)
            return builder.document()
        }
    }
}
