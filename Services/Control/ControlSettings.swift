import AMQP
import Observability
import Service

/// The settings of the operator's command line: `PURSER_CONTROL_…`. A command demands those it needs.
struct ControlSettings {
    /// A setting a command cannot do without.
    enum Need {
        case broker, database
    }

    /// The broker, for user `control`.
    let broker: AMQPEndpoint?
    /// The database, for role `purser_auditor`.
    let database: Secret?

    /// Reads them, or gives every problem.
    static func read(
        environment: [String: String], needing needs: Set<Need>
    ) -> Result<ControlSettings, SettingsProblems> {
        var reader = SettingsReader(service: "control", environment: environment)
        let url = reader.optionalSecret("AMQP_URL", meaning: "the broker: amqp[s]://control:password@host:port/vhost")
        let database = reader.optionalSecret("DATABASE", meaning: "conninfo of the read-only role purser_auditor")
        if needs.contains(.broker), url == nil { reader.problem("AMQP_URL", "must be set: the broker, user control") }
        if needs.contains(.database), database == nil {
            reader.problem("DATABASE", "must be set: the conninfo of the read-only role purser_auditor")
        }
        reader.finish()
        guard reader.problems.isEmpty else { return .failure(SettingsProblems(sentences: reader.problems)) }
        do {
            let broker = try url.map { try AMQPEndpoint(url: $0.reveal()) }
            return .success(ControlSettings(broker: broker, database: database))
        } catch {
            return .failure(SettingsProblems(sentences: ["PURSER_CONTROL_AMQP_URL cannot be read: \(error)."]))
        }
    }
}

/// Everything wrong with the settings, a sentence each.
struct SettingsProblems: Error { let sentences: [String] }
