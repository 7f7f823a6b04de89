import AppStoreSimulation
import JSON
import TestSupport
import Testing

/// The problem a call was refused with, kept to be searched for secrets; an issue is recorded if it was accepted or there was no answer.
func refusal(
    sourceLocation: SourceLocation = #_sourceLocation, _ call: () throws(BackendError) -> Void
) -> BackendProblem? {
    do throws(BackendError) {
        try call()
        Issue.record("accepted", sourceLocation: sourceLocation)
    } catch {
        if case .problem(let problem) = error {
            Canaries.keep(String(decoding: JSONWriter.write(problem.body), as: UTF8.self), in: "refusals")
            return problem
        }
        Issue.record("no answer: \(error)", sourceLocation: sourceLocation)
    }
    return nil
}
