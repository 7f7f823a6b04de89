import Glibc

/// What is done to a running system from outside: `demo` shows it, `bench` measures it, `chaos` breaks it, `backlog`
/// lets it work off a full queue, `reconcile` breaks its books, `flood` has it flooded, `token` makes tokens to play with.
@main
enum DrillsMain {
    static func main() {
        let arguments = Array(CommandLine.arguments.dropFirst())
        exit(run(arguments))
    }

    private static func run(_ arguments: [String]) -> Int32 {
        switch arguments.first {
        case "demo" where arguments.count == 1: DemoCommand.run()
        case "bench" where arguments.count == 1: BenchCommand.run()
        case "chaos": ChaosCommand.run(Array(arguments.dropFirst()))
        case "backlog": BacklogCommand.run(Array(arguments.dropFirst()))
        case "reconcile": ReconcileCommand.run(Array(arguments.dropFirst()))
        case "flood": FloodCommand.run(Array(arguments.dropFirst()))
        case "token": TokenCommand.run(Array(arguments.dropFirst()))
        default: usage()
        }
    }

    private static func usage() -> Int32 {
        print(
            """
            usage: purser-drills demo                       buys, repeats, attacks and spends; checks every value
                   purser-drills bench                      measures what the design promises (docs/guides/benchmark.md)
                   purser-drills chaos [SECONDS] [SEED]     breaks everything while purchases flow; checks the books
                   purser-drills backlog [COUNT]            measures how fast a queue is worked off
                   purser-drills reconcile [COUNT] [SEED]   plants differences in a month of purchases; all must be found
                   purser-drills flood [PURCHASES] [FILE]   measures what a paying user notices of hostile ones
                   purser-drills token USER [--service]     prints a token for curl

            settings:
            \(DrillSettings.explanation)
            """)
        return 2
    }
}
