import Glibc
import Synchronization

/// Absolute deadlines of connections. libmicrohttpd only knows silence, so one byte a second would last for ever.
///
/// The event loop says what a connection is doing; the watch's thread shuts the sockets down that are overdue. It can
/// do so safely because an entry disappears, under the same lock, before libmicrohttpd closes the socket.
final class ConnectionWatch: Sendable {
    private struct Entry {
        let socket: Int32
        var deadline: ContinuousClock.Instant?
        var isReadingBody = false
    }

    private let entries = Mutex<[UInt: Entry]>([:])

    var count: Int { entries.withLock { $0.count } }

    func opened(_ connection: OpaquePointer, socket: Int32, within limit: Duration) {
        let key = UInt(bitPattern: connection)
        let deadline = ContinuousClock.now + limit
        entries.withLock { $0[key] = Entry(socket: socket, deadline: deadline) }
    }

    func closed(_ connection: OpaquePointer) {
        let key = UInt(bitPattern: connection)
        entries.withLock { $0[key] = nil }
    }

    /// The connection has to come to its next step within this time; nil while a handler works.
    func expect(_ connection: OpaquePointer, within limit: Duration?, readingBody: Bool = false) {
        let key = UInt(bitPattern: connection)
        let deadline = limit.map { ContinuousClock.now + $0 }
        entries.withLock {
            $0[key]?.deadline = deadline
            $0[key]?.isReadingBody = readingBody
        }
    }

    /// Shuts down what is overdue; whoever was sending a body gets `timeoutAnswer` first.
    func closeOverdue(timeoutAnswer: () -> [UInt8]) {
        let now = ContinuousClock.now
        let overdue = entries.withLock { $0.values.filter { Self.isOverdue($0, now) } }
        guard !overdue.isEmpty else { return }
        // Composed outside the lock, and only if somebody gets it: composing counts and logs a refused request.
        let answer = overdue.contains { $0.isReadingBody } ? timeoutAnswer() : []
        entries.withLock { entries in
            for (key, entry) in entries where Self.isOverdue(entry, now) {
                if entry.isReadingBody, !answer.isEmpty { Self.send(answer, to: entry.socket) }
                shutdown(entry.socket, Int32(SHUT_RDWR))
                entries[key]?.deadline = nil
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
