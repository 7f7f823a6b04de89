import Messages
import Observability
import Pipeline
import Postgres

/// Runs what comes to `reconciliation.commands`, in the order it came; neighbours of one kind together.
struct RunCommands: Handler {
    private var findings: RunFindingCommands
    private var sales: StoreSalesReports
    private var runs: AcceptRunRequests

    init(logger: Logger) {
        findings = RunFindingCommands(logger: logger)
        sales = StoreSalesReports(logger: logger)
        runs = AcceptRunRequests()
    }

    mutating func handle(_ batch: [Incoming], in transaction: inout Transaction) throws -> [Outcome] {
        var outcomes: [Outcome] = []
        var rest = batch[...]
        while let first = rest.first {
            let type = first.header.type
            let run = Array(rest.prefix { $0.header.type == type })
            rest = rest.dropFirst(run.count)
            switch type {
            case .salesImportRequested: outcomes += try sales.handle(run, in: &transaction)
            case .reconciliationRunRequested: outcomes += try runs.handle(run, in: &transaction)
            default: outcomes += try findings.handle(run, in: &transaction)
            }
        }
        return outcomes
    }
}
