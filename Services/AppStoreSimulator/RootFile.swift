import Glibc

/// The root certificate as a file. Only its owner may write it, and nobody else needs it: whoever can put another root
/// there can make purchases.
enum RootFile {
    /// Why it could not be written.
    struct Failure: Error, CustomStringConvertible {
        let path: String
        let number: Int32
        var description: String { "\(path) cannot be written: \(String(cString: strerror(number)))" }
    }

    /// Replaces the file, mode 0600: readers see the old or the new one.
    static func write(_ pem: String, to path: String) throws(Failure) {
        let temporary = path + ".new"
        unlink(temporary)
        let file = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw Failure(path: temporary, number: errno) }
        let bytes = Array(pem.utf8)
        let isWritten = Glibc.write(file, bytes, bytes.count) == bytes.count && fsync(file) == 0
        let number = errno
        close(file)
        guard isWritten else { throw Failure(path: temporary, number: number) }
        guard rename(temporary, path) == 0 else { throw Failure(path: path, number: errno) }
    }
}
