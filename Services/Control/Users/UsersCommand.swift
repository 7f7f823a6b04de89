/// `purser users …`: what operators do for the people behind the wallets.
struct UsersCommand {
    static let usage = """
        usage: purser users erase --app APP --user USER [--yes --actor NAME --reason TEXT]
               purser users transfer --app APP --from GUEST --to USER --actor NAME --reason TEXT [--request-id UUID]

          erase     shows what is kept under a user's name; with --yes takes the name out, the books stay
          transfer  makes a guest's wallet a registered user's; two wallets are never merged
        """

    let output: (String) -> Void
    let environment: [String: String]

    /// Exit code: 0 done or shown, 1 refused or unreachable, 2 wrong usage or settings.
    nonisolated(nonsending) func run(arguments: [String]) async -> Int32 {
        if let options = EraseOptions(arguments) {
            return await EraseCommand(output: output, environment: environment).run(options)
        }
        if let request = TransferCommand.request(arguments) {
            return await TransferCommand(output: output, environment: environment).run(request)
        }
        output(Self.usage)
        return 2
    }
}
