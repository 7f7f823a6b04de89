import Glibc
import Runtime
import Synchronization
import TestSupport

/// Reads the arguments of every process on the machine again and again, as any of its users can, on a thread of its own.
final class ArgumentWatch: Sendable {
    private let seen = Mutex<Set<String>>([])
    private let passes = Atomic<Int>(0)
    private let stop = StopSignal()
    private let thread: Mutex<NamedThread?> = .init(nil)

    /// Starts watching for any of `values`.
    init(for values: [String]) {
        let thread = NamedThread.start(name: "arguments") { [self] in
            let wanted = values.map { Array($0.utf8) }
            while !stop.isStopped {
                look(for: wanted)
                passes.add(1, ordering: .relaxed)
            }
        }
        self.thread.withLock { $0 = thread }
    }

    /// How often all processes were looked at.
    var passCount: Int { passes.load(ordering: .relaxed) }

    /// Ends watching; the names of the programs that had one of the values among their arguments.
    func finish() -> Set<String> {
        stop.stop()
        _ = thread.withLock { $0 }?.join(for: .seconds(60))
        return seen.withLock { $0 }
    }

    private func look(for values: [[UInt8]]) {
        guard let folder = opendir("/proc") else { return }
        defer { closedir(folder) }
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            guard name.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { continue }
            let arguments = Array(TextFiles.read("/proc/\(name)/cmdline").utf8)
            guard values.contains(where: { arguments.firstRange(of: $0) != nil }) else { continue }
            let program = String(decoding: arguments.prefix { $0 != 0 }, as: UTF8.self)
            seen.withLock { _ = $0.insert(program) }
        }
    }
}
