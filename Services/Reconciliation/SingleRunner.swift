import Postgres
import Runtime

/// Work that exactly one copy of the service does: whoever holds a lock of its session in PostgreSQL. A process that dies
/// loses its session and with it the lock; whoever works writes over the same session, so nobody can do it without.
enum SingleRunner {
    /// What is done once.
    enum Work: String {
        case journal, checks, apple, daily
    }

    /// Waits for the lock; false if the stop signal came first. The session must stay open while the work is done.
    static func wait(for work: Work, on connection: inout Connection, until stop: StopSignal) throws -> Bool {
        while !stop.isStopped {
            let row = try connection.query(
                "SELECT pg_try_advisory_lock(hashtextextended('purser reconciliation ' || $1, 0)) AS taken",
                [.text(work.rawValue)]
            ).single()
            if try row.bool("taken") { return true }
            // A second: that long nothing is lost, and asking costs nothing.
            if stop.wait(for: .seconds(1)) { break }
        }
        return false
    }
}
