import Glibc
import Synchronization

/// Secrets and personal data that tests make, written down so that the run can search all of its logs for them.
///
/// `infra/scripts/test` reads the file `canaries` of `PURSER_TEST_STATE` after the last tier; without that variable
/// nothing is written.
public enum Canaries {
    private static let written = Mutex<Set<String>>([])

    /// Writes values down; those known already, and those too short to be told from ordinary words, are left out.
    ///
    /// - Parameter kind: what a finding is called; the value itself is never told.
    public static func register(_ kind: String, _ values: [String]) {
        guard let state = getenv("PURSER_TEST_STATE") else { return }
        let new = written.withLock { written in
            values.filter { $0.utf8.count >= shortest && !$0.contains("\n") && written.insert($0).inserted }
        }
        guard !new.isEmpty else { return }
        let file = open(String(cString: state) + "/canaries", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard file >= 0 else { return }
        defer { close(file) }
        let bytes = Array(new.map { "\(kind)\t\($0)\n" }.joined().utf8)
        _ = write(file, bytes, bytes.count)
    }

    /// Keeps what a process answered or told, in the folder of logs that is searched. Only of a run with
    /// `PURSER_TEST_STATE`.
    public static func keep(_ text: String, in name: String) {
        guard let state = getenv("PURSER_TEST_STATE") else { return }
        let path = "\(String(cString: state))/logs/\(name)-\(getpid()).log"
        let file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard file >= 0 else { return }
        defer { close(file) }
        let bytes = Array((text + "\n").utf8)
        _ = write(file, bytes, bytes.count)
    }

    /// Writes down what would be recognised of a signed text: the ends of its payload and of its signature. The header is
    /// public.
    public static func register(signed text: String, kind: String) {
        let segments = text.split(separator: ".").dropFirst()
        register(kind, segments.map { String($0.suffix(80)) })
    }

    /// Shorter values stand by chance in other words.
    private static let shortest = 6
}
