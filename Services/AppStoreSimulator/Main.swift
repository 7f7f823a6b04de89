import Glibc
import Runtime

/// The command line: `serve` (default), `version`.
@main
enum AppStoreSimulatorMain {
    static func main() {
        let arguments = Array(CommandLine.arguments.dropFirst())
        switch arguments.first ?? "serve" {
        case "serve" where arguments.count <= 1: exit(serve())
        case "version" where arguments.count == 1: print("appstore-simulator 0.1.0")
        default:
            print("usage: appstore-simulator [serve|version]\n")
            print("settings:\n" + SimulatorSettings.explanation)
            exit(2)
        }
    }

    private static func serve() -> Int32 {
        let stop = TerminationSignals.install()
        do {
            let settings = try SimulatorSettings(environment: ProcessEnvironment.all)
            return try SimulatorRun(settings).serve(until: stop)
        } catch {
            StandardError.complain("\(error)")
            return 2
        }
    }
}

/// Where the process complains.
enum StandardError {
    /// Writes a line to standard error.
    static func complain(_ text: String) {
        let bytes = Array((text + "\n").utf8)
        _ = write(STDERR_FILENO, bytes, bytes.count)
    }
}
