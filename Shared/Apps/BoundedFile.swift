import Glibc

/// Reads small regular files and folders of them.
enum BoundedFile {
    /// What is known of a file that was read.
    struct Content {
        let bytes: [UInt8]
        /// Permission bits.
        let mode: UInt32
    }

    /// Why a file was not read, in words for people.
    struct Failure: Error {
        let reason: String
    }

    /// Reads a regular file of at most `limit` bytes. Mode and bytes are of the same open file.
    static func read(_ path: String, limit: Int) throws(Failure) -> Content {
        // Without O_NONBLOCK opening a named pipe would wait for its writer.
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else { throw Failure(reason: reason(errno)) }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0 else { throw Failure(reason: reason(errno)) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw Failure(reason: "it is no regular file") }
        var bytes: [UInt8] = []
        // A page at a time: the files are small.
        var piece = [UInt8](repeating: 0, count: 4_096)
        while true {
            let count = Glibc.read(file, &piece, piece.count)
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { throw Failure(reason: reason(errno)) }
            guard count > 0 else { break }
            bytes.append(contentsOf: piece[..<count])
            guard bytes.count <= limit else { throw Failure(reason: "it is longer than \(limit) bytes") }
        }
        return Content(bytes: bytes, mode: UInt32(status.st_mode & 0o7777))
    }

    /// The names in a folder that do not start with a dot, sorted.
    static func names(in folder: String) throws(Failure) -> [String] {
        guard let stream = opendir(folder) else { throw Failure(reason: reason(errno)) }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let capacity = MemoryLayout.size(ofValue: entry.pointee.d_name)
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: capacity) { String(cString: $0) }
            }
            if !name.hasPrefix(".") { names.append(name) }
        }
        return names.sorted()
    }

    static func isFolder(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    /// What tells a file from what it was before: inode, size and both times. A file that is replaced has another inode,
    /// one that is written to another time. `-` if there is none.
    static func stamp(_ path: String) -> String {
        var status = stat()
        guard stat(path, &status) == 0 else { return "-" }
        let times = [status.st_mtim, status.st_ctim].map { "\($0.tv_sec).\($0.tv_nsec)" }
        return ([String(status.st_ino), String(status.st_size)] + times).joined(separator: " ")
    }

    private static func reason(_ number: Int32) -> String {
        switch number {
        case ENOENT: "it does not exist"
        case EACCES: "this user may not read it"
        default: "system error \(number)"
        }
    }
}
