import Glibc

/// Small files, read and written whole, with the mode set when the file is created.
enum TextFile {
    /// Larger files than this are not ours.
    private static let maximumBytes = 1 << 20

    static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

    static func read(_ path: String) throws(AuthorityFileError) -> String {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure(path) }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while bytes.count <= maximumBytes {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { throw failure(path) }
            if count == 0 { return String(decoding: bytes, as: UTF8.self) }
            bytes += buffer[0..<count]
        }
        throw .file(path: path, problem: "larger than 1 MiB")
    }

    static func write(_ text: String, to path: String, mode: mode_t) throws(AuthorityFileError) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode)
        guard descriptor >= 0 else { throw failure(path) }
        defer { close(descriptor) }
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { throw failure(path) }
            rest = rest.dropFirst(count)
        }
    }

    private static func failure(_ path: String) -> AuthorityFileError {
        .file(path: path, problem: String(cString: strerror(errno)))
    }
}
