import Glibc

/// Files that are there whole or not at all, also after `kill -9` or a power cut. Blocking: own threads only.
enum DurableFile {
    /// Ending of a file that is being written; such files are left-overs of a crash and mean nothing.
    static let temporaryEnding = ".new"

    /// Replaces `directory/name`: written beside it, flushed, renamed over it, and the folder flushed as well, because
    /// a rename is an entry of the folder.
    static func write(_ bytes: [UInt8], name: String, in directory: String) throws(StoreError) {
        let path = "\(directory)/\(name)"
        let temporary = path + temporaryEnding
        let file = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw failure(temporary) }
        do throws(StoreError) {
            try writeAll(bytes, to: file, path: temporary)
            guard fsync(file) == 0 else { throw failure(temporary) }
        } catch {
            close(file)
            unlink(temporary)
            throw error
        }
        close(file)
        guard rename(temporary, path) == 0 else { throw failure(path) }
        try flush(directory)
    }

    /// Replaces the file at `path` in the same way.
    static func write(_ bytes: [UInt8], to path: String) throws(StoreError) {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        try write(
            bytes, name: String(parts.last ?? ""),
            in: parts.count > 1 ? parts.dropLast().joined(separator: "/") : ".")
    }

    /// The whole content, or nil if there is no such file.
    static func read(_ path: String) throws(StoreError) -> [UInt8]? {
        guard access(path, F_OK) == 0 else { return nil }
        do {
            return Array(try TextFile.read(path).utf8)
        } catch {
            throw .storage(path: path, problem: "cannot be read")
        }
    }

    /// Removes a file; one that is not there is removed already.
    static func remove(name: String, in directory: String) throws(StoreError) {
        let path = "\(directory)/\(name)"
        guard unlink(path) == 0 || errno == ENOENT else { throw failure(path) }
        try flush(directory)
    }

    /// The names of the finished files of a folder, sorted.
    static func names(in directory: String) throws(StoreError) -> [String] {
        guard let stream = opendir(directory) else { throw failure(directory) }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { tuple in
                tuple.withMemoryRebound(to: CChar.self, capacity: MemoryLayout.size(ofValue: tuple.pointee)) {
                    String(cString: $0)
                }
            }
            if !name.hasPrefix("."), !name.hasSuffix(temporaryEnding) { names.append(name) }
        }
        return names.sorted()
    }

    /// Makes a folder that only its owner may enter, unless it is there.
    static func makeDirectory(_ path: String) throws(StoreError) {
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw failure(path) }
    }

    private static func writeAll(_ bytes: [UInt8], to file: Int32, path: String) throws(StoreError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { throw failure(path) }
            rest = rest.dropFirst(count)
        }
    }

    private static func flush(_ directory: String) throws(StoreError) {
        let folder = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { throw failure(directory) }
        defer { close(folder) }
        guard fsync(folder) == 0 else { throw failure(directory) }
    }

    private static func failure(_ path: String) -> StoreError {
        .storage(path: path, problem: String(cString: strerror(errno)))
    }
}
