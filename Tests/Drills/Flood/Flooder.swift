import Glibc
import Runtime
import Synchronization

/// A flood: one thread that keeps many hostile connections busy until it is stopped.
///
/// The thread has the lowest priority. An attacker's processor is not ours: what the flood costs *us* (the kernel's and
/// the gateway's work) counts in full, what it costs the attacker shall not slow down the one who is measured.
final class Flooder: Sendable {
    private let kind: FloodKind
    private let port: UInt16
    private let connections: Int
    private let stopping = StopSignal()
    private let counts = Mutex(FloodCounts())
    private let thread = Mutex<NamedThread?>(nil)

    private static let lowestPriority: Int32 = 19
    /// How late something timed may be, in milliseconds.
    private static let tick: Int32 = 5

    private init(_ kind: FloodKind, port: UInt16, connections: Int) {
        self.kind = kind
        self.port = port
        self.connections = connections
    }

    /// Begins.
    static func start(_ kind: FloodKind, port: UInt16, connections: Int) -> Flooder {
        let flooder = Flooder(kind, port: port, connections: connections)
        let thread = NamedThread.start(name: "flood") { flooder.run() }
        flooder.thread.withLock { $0 = thread }
        return flooder
    }

    /// What happened so far.
    var soFar: FloodCounts { counts.withLock { $0 } }

    /// Ends and closes everything.
    func stop() {
        stopping.stop()
        thread.withLock { $0 }?.join()
    }

    private func run() {
        // Of this thread alone, as Linux has it (setpriority(2), "C library/kernel differences").
        setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, Self.lowestPriority)
        var hostile = HostileConnections(kind, port: port, count: connections)
        while !stopping.isStopped {
            hostile.round(waiting: Self.tick)
            let now = hostile.counts
            counts.withLock { $0 = now }
        }
    }
}

/// The connections of a flood and their `poll`.
private struct HostileConnections: ~Copyable {
    private let all: [Box]
    private(set) var counts = FloodCounts()

    /// Arrays hold no noncopyable values.
    private final class Box {
        var connection: HostileConnection
        init(_ connection: consuming HostileConnection) { self.connection = connection }
    }

    init(_ kind: FloodKind, port: UInt16, count: Int) {
        all = (0..<count).map { _ in Box(HostileConnection(kind, port: port)) }
    }

    mutating func round(waiting milliseconds: Int32) {
        var entries = all.map { box in
            // A negative descriptor is passed over.
            pollfd(
                fd: box.connection.interest == nil ? -1 : box.connection.file,
                events: box.connection.interest ?? 0, revents: 0)
        }
        let isAnyDue = all.contains {
            if case .closed(let until) = $0.connection.state { until <= BenchClock.nanoseconds } else { false }
        }
        guard poll(&entries, nfds_t(entries.count), isAnyDue ? 0 : milliseconds) >= 0 else { return }
        let now = BenchClock.nanoseconds
        for (box, entry) in zip(all, entries) {
            box.connection.step(at: now, isReady: entry.revents != 0, &counts)
        }
    }
}
