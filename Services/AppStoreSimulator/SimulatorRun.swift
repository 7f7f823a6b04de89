import AppStoreSimulation
import HTTPServer
import Observability
import Runtime

/// One run of the process.
struct SimulatorRun {
    private let settings: SimulatorSettings
    private let logger: Logger

    init(_ settings: SimulatorSettings) {
        self.settings = settings
        logger = Logger(service: "appstore-simulator", level: settings.logLevel)
    }

    /// Serves until `stop` is raised.
    func serve(until stop: StopSignal) throws -> Int32 {
        let simulator = try RunningSimulator.start(settings, logger: logger)
        logger.info(
            "started", ["http.address": .string(settings.address), "http.port": .int(Int(simulator.port))])
        stop.wait()
        let isClean = simulator.stop()
        logger.info("stopped", ["clean": .bool(isClean)])
        return isClean ? 0 : 1
    }
}
