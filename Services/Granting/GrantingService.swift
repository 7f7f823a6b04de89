package import Pipeline
package import Service

/// What is seen of Granting from outside: the program that its executable runs, and its handlers and schema for
/// measurements, which run them without a broker.
package enum GrantingService {
    /// Runs `purser-granting`; returns its exit code.
    package static func run() -> Int32 { ServiceMain.run(GrantingProgram.self) }

    /// The steps that build the schema `granting`.
    package static var migrations: [Migration] { GrantingSchema.migrations }

    /// The handler of `granting.purchases`. Belongs to one thread.
    package static func purchases() -> any Handler { GrantPurchases() }

    /// The handler of `granting.notifications`. Belongs to one thread.
    package static func notifications() -> any Handler { ApplyNotifications() }

    /// The handler of `granting.wallet`. Belongs to one thread.
    package static func wallet() -> any Handler { DecideWallet() }

    /// The handler of `granting.commands`. Belongs to one thread.
    package static func commands() -> any Handler { RunCommands() }
}
