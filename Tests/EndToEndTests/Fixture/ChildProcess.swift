import Glibc
import Runtime
import Synchronization
import TestSupport

/// A program that runs beside the test, its output appended to a file. Stopped by its pid alone. Any thread.
final class ChildProcess: Sendable {
    /// How a process ended.
    enum Ending: Sendable, Equatable {
        /// By itself, with this code.
        case exit(Int32)
        /// By this signal.
        case signal(Int32)
    }

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    let name: String
    let pid: pid_t
    private let ending = Mutex<Ending?>(nil)

    private init(name: String, pid: pid_t) {
        self.name = name
        self.pid = pid
    }

    private static let running = Mutex<[pid_t: ChildProcess]>([:])

    /// Starts `program` with exactly the variables given (and PATH).
    static func start(
        _ program: String, _ arguments: [String] = [], environment: [String: String], log: String
    ) throws -> ChildProcess {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, log, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        posix_spawn_file_actions_adddup2(&actions, 1, 2)
        var words: [UnsafeMutablePointer<CChar>?] = ([program] + arguments).map { strdup($0) } + [nil]
        var variables: [UnsafeMutablePointer<CChar>?] =
            environment.map { strdup("\($0.key)=\($0.value)") } + [strdup("PATH=/usr/bin:/bin"), nil]
        defer { for word in words + variables { free(word) } }
        var pid = pid_t()
        // Registered before it can end: `endAll` must never miss one.
        let child = try running.withLock { running in
            let code = SpawnAttributes.withNoBlockedSignals {
                posix_spawn(&pid, program, &actions, $0, &words, &variables)
            }
            guard code == 0 else { throw Failure(description: "cannot start \(program): error \(code)") }
            let child = ChildProcess(name: program, pid: pid)
            running[pid] = child
            return child
        }
        return child
    }

    /// Sends a signal, unless it has ended and been collected: its pid may be another's then.
    func send(_ signal: Int32) {
        ending.withLock { ending in
            collect(&ending)
            if ending == nil { kill(pid, signal) }
        }
    }

    /// How it ended, nil while it runs.
    var ended: Ending? {
        ending.withLock { ending in
            collect(&ending)
            return ending
        }
    }

    /// Waits for its end, at most for `limit`; nil if it still runs. Own threads only.
    func wait(for limit: Duration) -> Ending? {
        let deadline = ContinuousClock.now + limit
        let never = StopSignal()
        while ContinuousClock.now < deadline {
            if let ended { return ended }
            _ = never.wait(for: .milliseconds(5))
        }
        return ended
    }

    /// Kills it and waits until it is gone.
    func crash() {
        send(SIGKILL)
        _ = wait(for: .seconds(5))
    }

    /// Kills whatever still runs; at the end of the test program.
    static func endAll() {
        let all = running.withLock { Array($0.values) }
        for child in all { child.send(SIGTERM) }
        for child in all where child.wait(for: .seconds(3)) == nil { child.crash() }
    }

    private func collect(_ ending: inout Ending?) {
        guard ending == nil else { return }
        var status: Int32 = 0
        guard waitpid(pid, &status, WNOHANG) == pid else { return }
        let signal = status & 0x7f
        ending = signal == 0 ? .exit((status >> 8) & 0xff) : .signal(signal)
        Self.running.withLock { $0[pid] = nil }
    }
}
