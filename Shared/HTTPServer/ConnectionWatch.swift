import Glibc
import Synchronization

/// Absolute deadlines of connections, and how many each address has. libmicrohttpd only knows silence, so one byte a second would last for ever.
///
/// The event loop says what a connection is doing; the watch's thread shuts the sockets down that are overdue. It can
/// do so safely because an entry disappears, under the same lock, before libmicrohttpd closes the socket.
final class ConnectionWatch: Sendable {
    private struct Entry {
        let socket: Int32
        /// Whom it is counted for.
        let network: IPAddress?
        var deadline: ContinuousClock.Instant?
        var isReadingBody = false
    }

    private struct State {
        var entries: [UInt: Entry] = [:]
        /// Open connections by network; no entry for none.
        var counts: [IPAddress: Int] = [:]
    }

    private let state = Mutex(State())

    var count: Int { state.withLock { $0.entries.count } }

    /// Open connections of the network of `peer`.
    func count(of peer: IPAddress) -> Int { state.withLock { $0.counts[peer.network] ?? 0 } }

    func opened(_ connection: OpaquePointer, socket: Int32, peer: IPAddress?, within limit: Duration) {
        let key = UInt(bitPattern: connection)
        let entry = Entry(socket: socket, network: peer?.network, deadline: ContinuousClock.now + limit)
        state.withLock {
            $0.entries[key] = entry
            if let network = entry.network { $0.counts[network, default: 0] += 1 }
        }
    }

    func closed(_ connection: OpaquePointer) {
        let key = UInt(bitPattern: connection)
        state.withLock {
            guard let network = $0.entries.removeValue(forKey: key)?.network, let count = $0.counts[network] else {
                return
            }
            $0.counts[network] = count > 1 ? count - 1 : nil
        }
    }

    /// The connection has to come to its next step within this time; nil while a handler works.
    func expect(_ connection: OpaquePointer, within limit: Duration?, readingBody: Bool = false) {
        let key = UInt(bitPattern: connection)
        let deadline = limit.map { ContinuousClock.now + $0 }
        state.withLock {
            $0.entries[key]?.deadline = deadline
            $0.entries[key]?.isReadingBody = readingBody
        }
    }

    /// Shuts down what is overdue; whoever was sending a body gets `timeoutAnswer` first.
    func closeOverdue(timeoutAnswer: () -> [UInt8]) {
        let now = ContinuousClock.now
        let overdue = state.withLock { $0.entries.values.filter { Self.isOverdue($0, now) } }
        guard !overdue.isEmpty else { return }
        // Composed outside the lock, and only if somebody gets it: composing counts and logs a refused request.
        let answer = overdue.contains { $0.isReadingBody } ? timeoutAnswer() : []
        state.withLock { state in
            for (key, entry) in state.entries where Self.isOverdue(entry, now) {
                if entry.isReadingBody, !answer.isEmpty { Self.send(answer, to: entry.socket) }
                shutdown(entry.socket, Int32(SHUT_RDWR))
                state.entries[key]?.deadline = nil
            }
        }
    }

    /// Sends an answer past libmicrohttpd, which cannot queue one while a body is arriving. Best effort: what the
    /// socket's buffer does not take is dropped.
    static func send(_ bytes: [UInt8], to socket: Int32) {
        _ = Glibc.send(socket, bytes, bytes.count, Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL))
    }

    private static func isOverdue(_ entry: Entry, _ now: ContinuousClock.Instant) -> Bool {
        entry.deadline.map { $0 <= now } ?? false
    }
}
