import AppStoreSimulation

/// `purser-drills token USER [--service]`: a token to play with, valid for an hour.
enum TokenCommand {
    /// Exit code: 0 printed, 1 no key, 2 wrong usage.
    static func run(_ arguments: [String]) -> Int32 {
        let names = arguments.filter { $0 != "--service" }
        guard names.count == 1, let subject = names.first, !subject.hasPrefix("-") else {
            print("usage: purser-drills token USER [--service]")
            return 2
        }
        do {
            let settings = DrillSettings()
            let issuer = try names.count == arguments.count ? settings.login() : settings.service()
            print(try issuer.tokens().token(subject))
            return 0
        } catch {
            print("no token: \(error)")
            return 1
        }
    }
}
