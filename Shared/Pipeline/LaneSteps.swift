/// What becomes of a batch that was taken, step by step. The order of the steps is what makes it exactly once, so it
/// stands here alone: for the lane, which has connections, and for the simulation, which dies between any two of them.
protocol LaneSteps: ~Copyable {
    /// What was taken from the queue.
    associatedtype Taken

    /// Loads, decides and saves state and facts in one transaction, however long that takes.
    mutating func commit(_ taken: Taken) throws -> LaneBatch
    /// Sends replies and facts off.
    mutating func send(_ taken: Taken, _ committed: LaneBatch) throws
    /// Returns when the broker has all that was sent off.
    mutating func confirm(_ taken: Taken, _ committed: LaneBatch) throws
    /// Sends on what is retried or given up, and returns when the broker has it.
    mutating func forward(_ taken: Taken, _ committed: LaneBatch) throws
    /// Notes that the facts are told: their rows of `unannounced` are retired with a later transaction.
    mutating func note(_ committed: LaneBatch)
    /// Acknowledges everything taken.
    mutating func acknowledge(_ taken: Taken) throws
    /// Tells the probe.
    func reached(_ point: CrashPoint, _ taken: Taken) throws
}

extension LaneSteps where Self: ~Copyable {
    /// Commits a batch and sends off what it says.
    ///
    /// The batch before may still await its confirms while this one is in the database: that one is ended (`endEarlier`)
    /// after the commit and before anything of this one is sent, so batches end in the order in which they were taken.
    mutating func tell(_ taken: Taken, endEarlier: (inout Self) throws -> Void = { _ in }) throws -> LaneBatch {
        let committed = try commit(taken)
        try reached(.afterCommit, taken)
        try endEarlier(&self)
        try send(taken, committed)
        return committed
    }

    /// Ends a batch that was told: acknowledges only what is committed and confirmed.
    mutating func end(_ taken: Taken, _ committed: LaneBatch) throws {
        try confirm(taken, committed)
        try reached(.afterPublish, taken)
        try forward(taken, committed)
        note(committed)
        try reached(.beforeAck, taken)
        try acknowledge(taken)
    }
}
