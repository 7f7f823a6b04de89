import AMQP
import Messages
import Synchronization

/// Who waits for which answer, by correlation id. Every entry ends exactly once: by its answer, a failed publish, or its
/// deadline.
typealias PendingReplies = Pending<Delivery>

/// Who waits for something of the broker: an answer, or the confirm of what was told.
final class Pending<Value: Sendable>: Sendable {
    typealias Continuation = CheckedContinuation<Value, any Error>

    private struct Entry {
        let continuation: Continuation
        let deadline: ContinuousClock.Instant
    }

    private let entries = Mutex<[String: Entry]>([:])

    /// How many wait.
    var count: Int { entries.withLock { $0.count } }

    /// Enters a waiter; the correlation id must be new. Whoever waited under it could never tell the answers apart, so
    /// that one's wait ends.
    func add(_ correlationID: String, deadline: ContinuousClock.Instant, _ continuation: Continuation) {
        let entry = Entry(continuation: continuation, deadline: deadline)
        let former = entries.withLock { $0.updateValue(entry, forKey: correlationID) }
        former?.continuation.resume(throwing: RequestError.timedOut)
    }

    /// Ends a waiter with what it waits for, if it still waits.
    func end(_ correlationID: String, _ value: Value) {
        entries.withLock { $0.removeValue(forKey: correlationID) }?.continuation.resume(returning: value)
    }

    /// Ends a waiter without an answer, if it still waits.
    func fail(_ correlationID: String, _ error: RequestError) {
        entries.withLock { $0.removeValue(forKey: correlationID) }?.continuation.resume(throwing: error)
    }

    /// Ends everybody whose patience is over.
    func expire(now: ContinuousClock.Instant) {
        let expired = entries.withLock { entries in
            let late = entries.filter { $0.value.deadline <= now }
            for key in late.keys { entries.removeValue(forKey: key) }
            return late.values.map(\.continuation)
        }
        for continuation in expired { continuation.resume(throwing: RequestError.timedOut) }
    }

    /// Ends everybody.
    func failAll(_ error: RequestError) {
        let all = entries.withLock { entries in
            defer { entries = [:] }
            return entries.values.map(\.continuation)
        }
        for continuation in all { continuation.resume(throwing: error) }
    }
}

extension Pending<Delivery> {
    /// Ends the waiter of this answer, if it still waits.
    func answer(_ delivery: Delivery) {
        guard let correlationID = delivery.properties.correlationID else { return }
        end(correlationID, delivery)
    }
}
