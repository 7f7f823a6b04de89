public import Postgres

/// What a lane does with messages. One instance lives on one lane's thread and may keep caches.
public protocol Handler {
    /// Handles a batch inside one transaction: load, decide, save. Returns one outcome a message, in order.
    ///
    /// A duplicate or redelivered message must find its own traces and answer as it did the first time. Throw only what
    /// the database threw: the lane re-runs, waits, or singles out the guilty message by the error's class.
    mutating func handle(_ batch: [Incoming], in transaction: inout Transaction) throws -> [Outcome]
}
