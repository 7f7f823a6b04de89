import Glibc

/// Gives damaged inputs to everything that reads what strangers write, and checks what must hold for each.
///
/// It knows no coverage, but the formats: a part of what it makes is well-formed, signed, or both. The same seed tries the
/// same damages.
@main
enum FuzzMain {
    static func main() {
        guard let settings = FuzzSettings(Array(CommandLine.arguments.dropFirst())) else {
            print(FuzzSettings.usage)
            exit(2)
        }
        if let (target, file) = settings.replay { exit(FuzzChild.replay(settings, target, file)) }
        if settings.scratch != nil { exit(FuzzChild.run(settings)) }
        exit(FuzzRun(settings: settings, program: CommandLine.arguments[0]).run())
    }
}
