import Glibc
import Runtime
import Synchronization
import TestSupport

/// Keeps processes running as systemd would: each has a thread that looks ten times a second and starts it again by
/// the project's script when it is gone. Knows which ends were the drill's own doing.
final class Supervisor: Sendable {
    /// A process that ended and nobody killed it.
    struct Ending: Sendable {
        /// Which.
        let name: String
        /// When, in seconds since the supervisor began.
        let at: Double
    }

    private struct State {
        var pids: [String: pid_t] = [:]
        var killed: Set<pid_t> = []
        var endings: [Ending] = []
        var starts: [String: Int] = [:]
        var problems: [String] = []
    }

    private let site: Site
    private let names: [String]
    /// Settings each process is started with besides its own.
    private let variables: [String: [String: String]]
    private let state = Mutex(State())
    private let stop = StopSignal()
    private let threads = Mutex<[NamedThread]>([])
    private let began = ContinuousClock.now

    /// How often a thread looks.
    private static let interval = Duration.milliseconds(100)

    private init(_ site: Site, _ names: [String], variables: [String: [String: String]]) {
        self.site = site
        self.names = names
        self.variables = variables
    }

    /// Starts what does not run of `names` and keeps it running.
    static func start(_ site: Site, _ names: [String], variables: [String: [String: String]] = [:]) -> Supervisor {
        let supervisor = Supervisor(site, names, variables: variables)
        let threads = names.map { name in
            NamedThread.start(name: "watch-\(name)") { supervisor.watch(name) }
        }
        supervisor.threads.withLock { $0 = threads }
        return supervisor
    }

    /// Looks no more; the processes go on.
    func finish() {
        stop.stop()
        for thread in threads.withLock({ $0 }) { thread.join() }
    }

    /// Ends that were nobody's doing.
    var endings: [Ending] { state.withLock { $0.endings } }
    /// How often each process was started.
    var starts: [String: Int] { state.withLock { $0.starts } }
    /// What went wrong with starting.
    var problems: [String] { state.withLock { $0.problems } }
    /// The processes as they are now.
    var pids: [String: pid_t] { state.withLock { $0.pids } }

    /// `kill -9`. Returns whether it ran.
    @discardableResult
    func kill(_ name: String) -> Bool {
        state.withLock { state in
            guard let pid = state.pids[name], Site.isAlive(pid) else { return false }
            state.killed.insert(pid)
            Glibc.kill(pid, SIGKILL)
            return true
        }
    }

    /// Another signal that does not end it: SIGSTOP, SIGCONT.
    func signal(_ name: String, _ signal: Int32) {
        state.withLock { state in
            if let pid = state.pids[name], Site.isAlive(pid) { Glibc.kill(pid, signal) }
        }
    }

    private func watch(_ name: String) {
        // What runs already is looked after like the rest.
        if let pid = site.pid(of: name) { state.withLock { $0.pids[name] = pid } }
        while !stop.isStopped {
            if site.pid(of: name) == nil { replace(name) }
            _ = stop.wait(for: Self.interval)
        }
    }

    private func replace(_ name: String) {
        let at = began.duration(to: .now).seconds
        state.withLock { state in
            guard let former = state.pids.removeValue(forKey: name) else { return }
            if !state.killed.contains(former) { state.endings.append(Ending(name: name, at: at)) }
        }
        do {
            try site.run("service", "start", name, variables: variables[name] ?? [:])
        } catch {
            state.withLock { $0.problems.append("\(error)") }
        }
        let pid = site.pid(of: name)
        state.withLock { state in
            state.starts[name, default: 0] += 1
            state.pids[name] = pid
            // It ended before it could be seen.
            if pid == nil { state.endings.append(Ending(name: name, at: at)) }
        }
    }
}

extension Duration {
    /// Seconds, with fractions.
    var seconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}
