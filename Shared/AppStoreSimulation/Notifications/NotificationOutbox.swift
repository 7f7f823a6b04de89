import Dispatch
import JSON
import Synchronization

/// Every notification that was made, with what became of it: on disk before anybody learns of it.
///
///     <state>/notifications/<signedDate>-<uuid>.json
///
/// Any thread; adding and finishing wait for the disk, never under the lock. Between ``takeDue()`` and ``finish(_:_:)``
/// a notification belongs to the thread that took it.
public final class NotificationOutbox: Sendable {
    /// How long the next notification of an app is waited for by one that shall come after it (ms).
    public static let longestHold: Int64 = 5_000
    private static let folder = "notifications"

    private struct State {
        /// In order of their making.
        var all: [SentNotification] = []
        var places: [String: Int] = [:]
        /// Those with something left to post.
        var open: Set<String> = []
        var taken: Set<String> = []
    }

    private let directory: String
    private let schedule: RetrySchedule
    private let now: @Sendable () -> Int64
    private let state = Mutex(State())
    private let arrival = DispatchSemaphore(value: 0)

    /// Opens what an existing state folder holds. What was being posted when the process died is posted again.
    public init(
        in directory: String, schedule: RetrySchedule, now: @escaping @Sendable () -> Int64 = WallClock.milliseconds
    ) throws(StoreError) {
        self.directory = directory + "/" + Self.folder
        self.schedule = schedule
        self.now = now
        try DurableFile.makeDirectory(self.directory)
        for name in try DurableFile.names(in: self.directory) {
            let path = "\(self.directory)/\(name)"
            guard let bytes = try DurableFile.read(path), let object = try? JSONReader.parseObject(bytes),
                let notification = try? SentNotification(object)
            else { throw .storage(path: path, problem: "is no notification") }
            insert(notification)
        }
    }

    /// Everything, oldest first.
    public var all: [SentNotification] { state.withLock { $0.all } }

    /// The notification with this UUID.
    public subscript(uuid: String) -> SentNotification? {
        state.withLock { state in state.places[uuid].map { state.all[$0] } }
    }

    /// Takes a new notification in, durably, and releases those of its app that waited for it.
    func add(_ notification: SentNotification) throws(StoreError) {
        try save(notification)
        insert(notification)
        arrival.signal()
    }

    /// One that is due, for the caller alone until it calls ``finish(_:_:)``.
    func takeDue() -> SentNotification? {
        let now = now()
        return state.withLock { state in
            let due = state.open.subtracting(state.taken).compactMap { state.places[$0] }.map { state.all[$0] }
                .filter { ($0.dueAt ?? .max) <= now }
            guard let first = due.min(by: { ($0.dueAt ?? 0, $0.signedDate) < ($1.dueAt ?? 0, $1.signedDate) }) else {
                return nil
            }
            state.taken.insert(first.uuid)
            return first
        }
    }

    /// What came of posting it: decides whether and when it is posted again.
    func finish(_ notification: SentNotification, _ result: String) throws(StoreError) {
        var after = notification
        let date = now()
        if notification.isDelivered || notification.isSpent(schedule) {
            after.duplicates -= 1
        } else {
            after.attempts.append(SentNotification.Attempt(date: date, result: result))
        }
        after.isHeldBack = false
        after.dueAt =
            if !after.isDelivered, let wait = schedule.wait(after: after.attempts.count, environment: after.environment)
            {
                date + wait
            } else if after.duplicates > 0 {
                date
            } else {
                nil
            }
        try save(after)
        insert(after)
        releaseHeld(after: after)
        arrival.signal()
    }

    /// Waits until something may be due.
    func waitForWork(atMost limit: Duration) {
        let next = state.withLock { state in
            state.open.subtracting(state.taken).compactMap { state.places[$0] }.compactMap { state.all[$0].dueAt }.min()
        }
        let milliseconds = min(max(1, (next ?? .max) - now()), Int64(limit / .milliseconds(1)))
        _ = arrival.wait(timeout: .now() + .milliseconds(Int(milliseconds)))
    }

    /// Wakes a waiting sender so that it sees that it shall stop.
    func wake() { arrival.signal() }

    private func insert(_ notification: SentNotification) {
        state.withLock { state in
            if let place = state.places[notification.uuid] {
                state.all[place] = notification
            } else {
                state.places[notification.uuid] = state.all.count
                state.all.append(notification)
            }
            state.taken.remove(notification.uuid)
            if notification.dueAt == nil {
                state.open.remove(notification.uuid)
            } else {
                state.open.insert(notification.uuid)
            }
        }
    }

    /// What was held back and is older is due now. Not written: after a crash it waits its longest hold once more.
    private func releaseHeld(after posted: SentNotification) {
        let now = now()
        state.withLock { state in
            for uuid in state.open.subtracting(state.taken) {
                guard let place = state.places[uuid] else { continue }
                let held = state.all[place]
                guard held.isHeldBack, held.bundleID == posted.bundleID, held.environment == posted.environment,
                    held.signedDate <= posted.signedDate
                else { continue }
                state.all[place].dueAt = min(held.dueAt ?? now, now)
            }
        }
    }

    private func save(_ notification: SentNotification) throws(StoreError) {
        // Milliseconds have 13 digits until the year 2286, so names sort by date.
        let name = "\(notification.signedDate)-\(notification.uuid).json"
        try DurableFile.write(JSONWriter.write(notification.json), name: name, in: directory)
    }
}

extension SentNotification {
    /// Whether no attempt is left, only copies.
    fileprivate func isSpent(_ schedule: RetrySchedule) -> Bool {
        !attempts.isEmpty && schedule.wait(after: attempts.count, environment: environment) == nil
    }
}
