import Messages
import Observability
import Pipeline
import Postgres

/// Runs what comes to `verification.commands`: users to be forgotten, purchases to be said again. One by one, in the
/// order they came: what is said after a user was forgotten names them no more.
struct RunCommands: Handler {
    private var erase = EraseUsers()
    private var redrive: RedriveEvidence

    init(logger: Logger) { redrive = RedriveEvidence(logger: logger) }

    mutating func handle(_ batch: [Incoming], in transaction: inout Transaction) throws -> [Outcome] {
        var outcomes: [Outcome] = []
        for incoming in batch {
            switch incoming.header.type {
            case .evidenceRedriveRequested, .regrantRequested:
                outcomes += try redrive.handle([incoming], in: &transaction)
            default: outcomes += try erase.handle([incoming], in: &transaction)
            }
        }
        return outcomes
    }
}
