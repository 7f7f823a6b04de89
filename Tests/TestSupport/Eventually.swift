import Runtime

/// A condition did not become true in time.
public struct ConditionNotMet: Error, CustomStringConvertible {
    /// What was waited for, and how long.
    public let description: String
}

/// Asks again and again until `condition` is true; throws `ConditionNotMet` when the time is over.
///
/// The limit only ends a test that fails: on a machine under load anything may take many times as long as usual.
/// For asynchronous tests. On own threads the blocking form of the same name is taken.
public func eventually(
    within limit: Duration = .seconds(60), every interval: Duration = .milliseconds(10), _ what: String = "condition",
    _ condition: () async throws -> Bool
) async throws {
    let deadline = ContinuousClock.now.advanced(by: limit)
    while try await !condition() {
        guard ContinuousClock.now < deadline else { throw ConditionNotMet(description: "not within \(limit): \(what)") }
        try await Task.sleep(for: interval)
    }
}

/// The blocking form, for bodies of `onThread`.
public func eventually(
    within limit: Duration = .seconds(60), every interval: Duration = .milliseconds(10), _ what: String = "condition",
    _ condition: () throws -> Bool
) throws {
    let deadline = ContinuousClock.now.advanced(by: limit)
    let never = StopSignal()
    while try !condition() {
        guard ContinuousClock.now < deadline else { throw ConditionNotMet(description: "not within \(limit): \(what)") }
        _ = never.wait(for: interval)
    }
}
