/// What becomes of a batch that was taken, step by step. The order of the steps is what makes it exactly once, so it
/// stands here alone: for the lane, which has connections, and for the simulation, which dies between any two of them.
protocol LaneSteps: ~Copyable {
    /// What was taken from the queue.
    associatedtype Taken

    /// Loads, decides and saves state and facts in one transaction, however long that takes.
    mutating func commit(_ taken: Taken) throws -> LaneBatch
    /// Publishes replies and facts, and returns when the broker has them.
    mutating func publish(_ taken: Taken, _ committed: LaneBatch) throws
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
    /// Acknowledges only what is committed and confirmed.
    mutating func handle(_ taken: Taken) throws {
        let committed = try commit(taken)
        try reached(.afterCommit, taken)
        try publish(taken, committed)
        try reached(.afterPublish, taken)
        try forward(taken, committed)
        note(committed)
        try reached(.beforeAck, taken)
        try acknowledge(taken)
    }
}
