/// Where an answer to Apple can be cut off. The crash suite stops the worker at each.
enum ConsumptionPoint: String, CaseIterable, Sendable {
    /// Taken, nothing asked yet.
    case claimed
    /// Granting has answered.
    case assessed
    /// What Apple will be told is written down.
    case begun
    /// Apple has answered, nothing of that is written down.
    case sent
    /// All of it is.
    case finished
}

/// Watches, and may end, a worker; throws to end it.
protocol ConsumptionProbe: Sendable {
    /// Called at every point.
    func reached(_ point: ConsumptionPoint) throws
}

/// What services run with.
struct NoConsumptionProbe: ConsumptionProbe {
    func reached(_ point: ConsumptionPoint) throws {}
}

/// The probe ended the worker.
struct ConsumptionCrash: Error {}
