import AMQP
import Observability
import Service

/// The settings of the operator's command line: `PURSER_CONTROL_…`.
struct ControlSettings {
    let broker: AMQPEndpoint

    /// Reads them, or gives every problem.
    static func read(environment: [String: String]) -> Result<ControlSettings, SettingsProblems> {
        var reader = SettingsReader(service: "control", environment: environment)
        let url = reader.secret("AMQP_URL", meaning: "the broker: amqp[s]://control:password@host:port/vhost")
        reader.finish()
        guard reader.problems.isEmpty else { return .failure(SettingsProblems(sentences: reader.problems)) }
        do {
            return .success(ControlSettings(broker: try AMQPEndpoint(url: url.reveal())))
        } catch {
            return .failure(SettingsProblems(sentences: ["PURSER_CONTROL_AMQP_URL cannot be read: \(error)."]))
        }
    }
}

/// Everything wrong with the settings, a sentence each.
struct SettingsProblems: Error { let sentences: [String] }
