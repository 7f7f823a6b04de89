import AppStoreSimulation
import Testing

/// The problem a call was refused with; an issue is recorded if it was accepted or there was no answer.
func refusal(
    sourceLocation: SourceLocation = #_sourceLocation, _ call: () throws(BackendError) -> Void
) -> BackendProblem? {
    do throws(BackendError) {
        try call()
        Issue.record("accepted", sourceLocation: sourceLocation)
    } catch {
        if case .problem(let problem) = error { return problem }
        Issue.record("no answer: \(error)", sourceLocation: sourceLocation)
    }
    return nil
}
