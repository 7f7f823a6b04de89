import Observability
import Postgres
import Runtime

/// One run of a service: metrics port, database gate, parts, and the way back.
struct ServiceRun<Program: ServiceProgram> {
    private let common: CommonSettings
    private let settings: Program.Settings
    private let logger: Logger
    private let metrics = Metrics()

    init(_ program: Program.Type, _ common: CommonSettings, _ settings: Program.Settings) {
        self.common = common
        self.settings = settings
        logger = Logger(service: "purser-\(Program.name)", level: common.logLevel, format: common.logFormat)
    }

    /// Serves until SIGTERM or SIGINT. A second signal ends the process at once.
    func serve() -> Int32 {
        let stop = TerminationSignals.install()
        let readiness = Readiness()
        do {
            let endpoint = try MetricsEndpoint.start(
                address: common.metricsAddress, port: common.metricsPort, metrics: metrics, readiness: readiness)
            logger.info(
                "starting", ["version": .string(ServiceMain.version), "metrics.port": .int(Int(endpoint.port))])
            try waitForDatabase(stop)
            guard !stop.isStopped else { return 0 }
            let context = ServiceContext(common: common, logger: logger, metrics: metrics, stop: stop)
            let parts = try Program.start(settings, context)
            readiness.set(parts)
            logger.info("started")
            stop.wait()
            logger.info("stopping")
            let isClean = shutDown(parts)
            endpoint.stop()
            logger.info("stopped", ["clean": .bool(isClean)])
            return isClean ? 0 : 1
        } catch {
            logger.error("cannot serve", ["error": .string(Problem.sentence(error))])
            return 1
        }
    }

    /// A database that is away is waited for; one that is unsafe or has an older schema is refused.
    private func waitForDatabase(_ stop: StopSignal) throws {
        guard let login = common.database else { return }
        var backoff = Backoff()
        while !stop.isStopped {
            do {
                var connection = try Connection.open(login, applicationName: "purser-\(Program.name) start")
                try connection.requireSafeSettings()
                let pending = try Migrator(schema: Program.name, migrations: Program.migrations).pending(
                    on: &connection)
                guard pending.isEmpty else { throw SchemaIsOld(service: Program.name, missing: pending.count) }
                return
            } catch {
                guard Self.isOutage(error) else { throw error }
                logger.warning("the database is away", ["error": .string(Problem.sentence(error))])
                _ = stop.wait(for: backoff.next())
            }
        }
    }

    private static func isOutage(_ error: any Error) -> Bool {
        switch error {
        case let error as PostgresError: error.retryClass == .wait
        case MigrationError.database(let error): error.retryClass == .wait
        default: false
        }
    }

    /// In reverse: whoever takes work first, whoever serves others last; all within one limit.
    private func shutDown(_ parts: [any ServicePart]) -> Bool {
        let deadline = ContinuousClock.now + ServiceMain.stopLimit
        var isClean = true
        for part in parts.reversed() {
            let left = max(.zero, ContinuousClock.now.duration(to: deadline))
            if !part.shutDown(within: left) {
                isClean = false
                logger.error("a part did not stop in time", ["part": .string(part.name)])
            }
        }
        return isClean
    }
}

/// `serve` never runs on an older schema.
struct SchemaIsOld: Error, CustomStringConvertible {
    let service: String
    let missing: Int
    var description: String { "the schema lacks \(missing) migration(s); run `purser-\(service) migrate` first" }
}
