import Glibc

/// Other programs' output.
enum Shell {
    /// What a command line prints, nil if it ends badly. Blocks until it ends.
    static func output(_ command: String) -> String? {
        guard let stream = popen(command, "r") else { return nil }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while true {
            let count = fread(&buffer, 1, buffer.count, stream)
            guard count > 0 else { break }
            bytes += buffer[..<count]
        }
        return pclose(stream) == 0 ? String(decoding: bytes, as: UTF8.self) : nil
    }

    /// A word as the shell takes it literally.
    static func quoted(_ word: String) -> String { "'" + word.replacing("'", with: "'\\''") + "'" }
}
