import Messages
import Observability
import Pipeline
import Postgres

/// Runs what comes to `reconciliation.commands`, in the order it came; neighbours of one kind together.
struct RunCommands: Handler {
    private var findings: RunFindingCommands
    private var sales: StoreSalesReports

    init(logger: Logger) {
        findings = RunFindingCommands(logger: logger)
        sales = StoreSalesReports(logger: logger)
    }

    mutating func handle(_ batch: [Incoming], in transaction: inout Transaction) throws -> [Outcome] {
        var outcomes: [Outcome] = []
        var rest = batch[...]
        while let first = rest.first {
            let isSales = Self.isAboutSales(first)
            let run = Array(rest.prefix { Self.isAboutSales($0) == isSales })
            rest = rest.dropFirst(run.count)
            outcomes +=
                isSales
                ? try sales.handle(run, in: &transaction) : try findings.handle(run, in: &transaction)
        }
        return outcomes
    }

    private static func isAboutSales(_ incoming: Incoming) -> Bool { incoming.header.type == .salesImportRequested }
}
