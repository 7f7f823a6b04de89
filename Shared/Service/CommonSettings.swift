public import AMQP
public import Observability

/// The settings every service has.
public struct CommonSettings: Sendable {
    /// The broker; nil only when its URL was unreadable (then there is a problem).
    public let broker: AMQPEndpoint?
    /// The service's own database login; nil for a service without a schema.
    public let database: Secret?
    /// The login that may change the schema; only `migrate` needs it.
    public let migrationDatabase: Secret?
    /// Where `/metrics`, `/livez` and `/readyz` are served.
    public let metricsAddress: String
    /// Their port; 0 = any free one.
    public let metricsPort: Int
    /// The least level that is logged.
    public let logLevel: LogLevel
    /// How lines are written.
    public let logFormat: LogFormat

    /// Reads them.
    public init(_ reader: inout SettingsReader, hasDatabase: Bool) {
        let url = reader.secret("AMQP_URL", meaning: "the broker: amqp[s]://user:password@host:port/vhost")
        var broker: AMQPEndpoint?
        if url.count > 0 {
            do { broker = try AMQPEndpoint(url: url.reveal()) } catch {
                reader.problem("AMQP_URL", "cannot be read: \(error)")
            }
        }
        self.broker = broker
        database =
            hasDatabase
            ? reader.secret("DATABASE", meaning: "the service's own login, a libpq connection string") : nil
        migrationDatabase =
            hasDatabase
            ? reader.optionalSecret(
                "MIGRATION_DATABASE", meaning: "the login of purser_migrator; needed by `migrate` only") : nil
        metricsAddress = reader.text(
            "METRICS_ADDRESS", default: "127.0.0.1", meaning: "where /metrics, /livez and /readyz listen")
        metricsPort = reader.integer(
            "METRICS_PORT", default: 0, in: 0...65_535, meaning: "their port; 0 takes any free one and logs it")
        logLevel = reader.choice("LOG_LEVEL", default: LogLevel.info, meaning: "debug, info, warning or error")
        logFormat = reader.choice(
            "LOG_FORMAT", default: LogFormat.json, meaning: "json, or text for people")
    }
}
