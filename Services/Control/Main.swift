import Glibc

/// `purser`, the operator's command line: the first argument names the command.
@main
enum ControlMain {
    static func main() {
        let arguments = Array(CommandLine.arguments.dropFirst())
        exit(run(arguments) { print($0) })
    }

    /// Runs one command; returns the exit status.
    static func run(_ arguments: [String], output: (String) -> Void) -> Int32 {
        switch arguments.first {
        case "verify":
            return VerifyCommand.run(arguments: Array(arguments.dropFirst()), output: output)
        default:
            output("usage: purser verify [options] FILE|-")
            return arguments.first == "--help" ? 0 : 2
        }
    }
}
