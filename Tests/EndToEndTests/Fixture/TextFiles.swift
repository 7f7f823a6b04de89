import Glibc

/// Small text files. Blocking.
enum TextFiles {
    /// Writes a file with exactly this mode.
    static func write(_ text: String, to path: String, mode: mode_t = 0o600) throws {
        let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode)
        guard file >= 0 else { throw Places.Missing(description: "cannot write \(path)") }
        defer { close(file) }
        let bytes = Array(text.utf8)
        guard Glibc.write(file, bytes, bytes.count) == bytes.count, fchmod(file, mode) == 0 else {
            throw Places.Missing(description: "cannot write \(path)")
        }
    }

    /// Adds lines to a file.
    static func append(_ lines: [String], to path: String) throws {
        let file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw Places.Missing(description: "cannot write \(path)") }
        defer { close(file) }
        let bytes = Array(lines.map { $0 + "\n" }.joined().utf8)
        guard Glibc.write(file, bytes, bytes.count) == bytes.count else {
            throw Places.Missing(description: "cannot write \(path)")
        }
    }

    /// The whole content; empty if there is no such file.
    static func read(_ path: String) -> String {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return "" }
        defer { close(file) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = Glibc.read(file, &chunk, chunk.count)
            guard count > 0 else { return String(decoding: bytes, as: UTF8.self) }
            bytes += chunk[..<count]
        }
    }
}
