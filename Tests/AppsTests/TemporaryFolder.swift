import Glibc

/// A folder that is removed with its files when the test lets go of it.
final class TemporaryFolder {
    struct Failure: Error {}

    let path: String
    private var files: [String] = []

    init() throws {
        var template = Array("/tmp/purser-apps-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw Failure() }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self) + "/"
    }

    deinit {
        for file in files { unlink(file) }
        rmdir(path)
    }

    /// Writes a file and returns its path.
    @discardableResult
    func write(_ name: String, _ bytes: [UInt8], mode: mode_t = 0o600) throws -> String {
        let file = path + name
        let descriptor = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Failure() }
        defer { close(descriptor) }
        files.append(file)
        guard Glibc.write(descriptor, bytes, bytes.count) == bytes.count, fchmod(descriptor, mode) == 0 else {
            throw Failure()
        }
        return file
    }

    @discardableResult
    func write(_ name: String, _ text: String, mode: mode_t = 0o600) throws -> String {
        try write(name, Array(text.utf8), mode: mode)
    }
}
