import AMQP
import Observability
import Postgres
public import Runtime

/// The command line of a service: `serve` (default), `migrate`, `check`, `config`, `version`, and what it has besides.
public enum ServiceMain {
    /// The version all executables carry.
    public static let version = "0.1.0"
    /// How long a service may take to end: an orchestrator kills after ten seconds.
    public static let stopLimit: Duration = .seconds(10)

    /// Runs the command and returns the exit code: 0 well, 1 a problem, 2 wrong usage or settings.
    public static func run<Program: ServiceProgram>(
        _ program: Program.Type, arguments: [String] = Array(CommandLine.arguments.dropFirst()),
        environment: [String: String] = ProcessEnvironment.all, output: (String) -> Void = { print($0) }
    ) -> Int32 {
        let command = arguments.first ?? "serve"
        let own = Program.commands.first { $0.name == command }
        guard own != nil || arguments.count <= 1, own != nil || Self.commands.contains(command) else {
            let usages = Self.commands + Program.commands.map(\.usage)
            output("usage: \(Program.executable) [\(usages.joined(separator: "|"))]")
            return 2
        }
        if command == "version" {
            output("\(Program.executable) \(version)")
            return 0
        }
        var reader = SettingsReader(service: Program.name, environment: environment)
        let common = CommonSettings(&reader, hasDatabase: !Program.migrations.isEmpty)
        let settings = Program.readSettings(&reader)
        reader.finish()
        if command == "config" { return printConfig(reader, output) }
        if command == "check" { return check(program, reader, common, settings, output) }
        guard reader.problems.isEmpty else {
            for problem in reader.problems { output(problem) }
            return 2
        }
        if command == "migrate" { return migrate(program, common, output) }
        if let own { return own.run(Array(arguments.dropFirst()), common, output) }
        return ServiceRun(program, common, settings).serve()
    }

    /// What every service can do.
    private static let commands = ["serve", "migrate", "check", "config", "version"]

    private static func printConfig(_ reader: SettingsReader, _ output: (String) -> Void) -> Int32 {
        for setting in reader.effective {
            let value = setting.value.map { $0.isEmpty ? "(empty)" : $0 } ?? "(unset)"
            output("\(setting.variable)=\(value)\(setting.isDefault ? "  # default" : "")  # \(setting.meaning)")
        }
        for problem in reader.problems { output("problem: \(problem)") }
        return reader.problems.isEmpty ? 0 : 2
    }

    private static func migrate<Program: ServiceProgram>(
        _ program: Program.Type, _ common: CommonSettings, _ output: (String) -> Void
    ) -> Int32 {
        guard !Program.migrations.isEmpty else {
            output("\(Program.executable) has no schema")
            return 0
        }
        guard let login = common.migrationDatabase else {
            output("Set the MIGRATION_DATABASE setting: the login of purser_migrator.")
            return 2
        }
        do {
            var connection = try Connection.open(login, applicationName: "purser-\(Program.name) migrate")
            let applied = try Migrator(schema: Program.name, migrations: Program.migrations).run(on: &connection)
            for migration in applied { output("applied V\(migration.version) \(migration.name)") }
            output("the schema \(Program.name) is current")
            return 0
        } catch {
            output("migration failed: \(Problem.sentence(error))")
            return 1
        }
    }

    private static func check<Program: ServiceProgram>(
        _ program: Program.Type, _ reader: SettingsReader, _ common: CommonSettings, _ settings: Program.Settings,
        _ output: (String) -> Void
    ) -> Int32 {
        var results = reader.problems.map { CheckResult("settings", problem: $0) }
        if results.isEmpty { results.append(CheckResult("settings")) }
        results += Reachability.check(program, common)
        results += Program.check(settings, common)
        for result in results {
            output(result.problem.map { "FAIL \(result.subject): \($0)" } ?? "ok   \(result.subject)")
        }
        return results.allSatisfy { $0.problem == nil } ? 0 : 1
    }
}

/// Errors as sentences for people.
enum Problem {
    static func sentence(_ error: any Error) -> String {
        switch error {
        case let error as PostgresError: "\(error)"
        case let error as AMQPError: "\(error)"
        case let error as MigrationError: "\(error)"
        case let error as any CustomStringConvertible: "\(error)"
        default: "\(type(of: error))"
        }
    }
}
