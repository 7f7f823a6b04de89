import Glibc
import TestSupport

/// A folder of one test, removed with everything in it.
final class TemporaryFolder: Sendable {
    let path: String

    init() throws {
        var template = Array("/tmp/purser-simulation-XXXXXX".utf8CString)
        guard let made = mkdtemp(&template) else { throw Failure(number: errno) }
        path = String(cString: made)
    }

    struct Failure: Error {
        let number: Int32
    }

    deinit {
        // What cannot be removed stays in /tmp.
        _ = try? Command.capture("/bin/rm", ["-rf", path])
    }
}
