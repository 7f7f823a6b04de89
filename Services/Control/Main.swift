import Glibc
import Runtime
import Service

/// `purser`, the operator's command line: the first argument names the command.
@main
enum ControlMain {
    private static let usage = """
        usage: purser verify [options] FILE|-       explains offline what a signed payload is and whether it is valid
               purser catalog import [options] FILE shows what an app's file changes, and imports it
               purser notifications list [options]  what Apple told, or what was refused, page by page
               purser notifications show UUID       one of them: what it says, what it was told on as, and when
               purser notifications redrive [options]
                                                    tells stored notifications of Apple again
               purser consumption list [options]    shows Apple's questions about the use of purchases
               purser findings list|show|accept|redrive
                                                    what reconciliation has found, and what to do about it
               purser find [options]                a customer's, an order's or a purchase's story
               purser report --date DATE [options]  a page about a day, as Markdown or HTML
               purser reconcile --date DATE [options]
                                                    has a day compared now, and tells how it went
               purser sales import [options] FILE   hands in a sales report of Apple, to be compared with the books
               purser regrant TRANSACTION [options] has a verified purchase decided anew
               purser replay QUEUE [options]        shows parked messages, or sends them back
               purser risk clear [options]          lifts limits that refunds have set a user
               purser users erase [options]         shows what is kept under a user's name, and takes the name out
               purser users transfer [options]      makes a guest's wallet a registered user's
               purser sandbox sweep [options]       takes what was bought in the sandbox out of the wallets
               purser audit [options]               proves on the database that the books add up
               purser topology [options]            prints the broker's definitions
               purser topology diff [options] FILE  compares a broker's export with them
               purser version
        """

    static func main() async {
        let arguments = Array(CommandLine.arguments.dropFirst())
        exit(await run(arguments, environment: ProcessEnvironment.all) { print($0) })
    }

    /// Runs one command; returns the exit status.
    nonisolated(nonsending) static func run(
        _ arguments: [String], environment: [String: String], output: @escaping (String) -> Void
    ) async -> Int32 {
        let rest = Array(arguments.dropFirst())
        switch arguments.first {
        case "verify": return VerifyCommand.run(arguments: rest, output: output)
        case "audit": return AuditCommand(output: output, environment: environment).run(arguments: rest)
        case "topology": return TopologyCommand.run(arguments: rest, output: output)
        case "catalog":
            return await CatalogCommand(output: output, environment: environment).run(arguments: rest)
        case "notifications":
            return await NotificationsCommand(output: output, environment: environment).run(arguments: rest)
        case "consumption":
            return ConsumptionCommand(output: output, environment: environment).run(arguments: rest)
        case "findings":
            return await FindingsCommand(output: output, environment: environment).run(arguments: rest)
        case "find": return await FindCommand(output: output, environment: environment).run(arguments: rest)
        case "report": return ReportCommand(output: output, environment: environment).run(arguments: rest)
        case "sales": return await SalesCommand(output: output, environment: environment).run(arguments: rest)
        case "reconcile": return await ReconcileCommand(output: output, environment: environment).run(arguments: rest)
        case "regrant": return await RegrantCommand(output: output, environment: environment).run(arguments: rest)
        case "replay": return ReplayCommand(output: output, environment: environment).run(arguments: rest)
        case "risk": return await RiskCommand(output: output, environment: environment).run(arguments: rest)
        case "users": return await UsersCommand(output: output, environment: environment).run(arguments: rest)
        case "sandbox": return await SandboxCommand(output: output, environment: environment).run(arguments: rest)
        case "version":
            output("purser \(ServiceMain.version)")
            return 0
        default:
            output(usage)
            return arguments.first == "--help" ? 0 : 2
        }
    }
}
