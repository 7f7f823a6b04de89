import AMQP
import Messages
public import Observability
import Postgres
public import Runtime
import Synchronization

/// One thread that turns messages into state, for ever:
///
///     take what has arrived ─▶ one transaction { load ─▶ decide ─▶ save state and facts }
///         ─▶ publish replies and facts, wait for confirms ─▶ acknowledge the batch
///
/// While the confirms of one batch are on their way, the next one is taken and committed; batches end in order.
///
/// A message is acknowledged only after its consequences are committed and confirmed. Whatever breaks before that, the
/// broker delivers it again and the handler finds what it left. Lanes share nothing; start more to scale.
///
/// - PostgreSQL away: the lane keeps its batch unacknowledged, its heartbeats going, and tries again.
/// - Broker away: everything is dropped and opened anew; unacknowledged work comes back by redelivery.
/// - A batch the database rejects is run one message a transaction; only the guilty one is parked.
public final class Lane: Sendable {
    private let thread: Mutex<NamedThread?> = Mutex(nil)
    private let ready = Atomic<Bool>(false)

    private init() {}

    /// Starts the lane's thread. `makeHandler` runs on it, anew after every reconnect.
    public static func start(
        _ configuration: LaneConfiguration, stop: StopSignal, logger: Logger, metrics: Metrics,
        probe: any LaneProbe = NoProbe(), makeHandler: @escaping @Sendable () throws -> any Handler
    ) -> Lane {
        let lane = Lane()
        let instruments = LaneMetrics(metrics, queue: configuration.queue.name)
        let name = "lane-\(configuration.queue.name.split(separator: ".").last ?? "")"
        // 10 is about a tenth of the share of a thread at 0 (sched(7)).
        let thread = NamedThread.start(name: name, niceness: configuration.yieldsToOthers ? 10 : 0) {
            lane.run(
                configuration, stop: stop, logger: logger.with(["queue": .string(configuration.queue.name)]),
                instruments: instruments, probe: probe, makeHandler: makeHandler)
        }
        lane.thread.withLock { $0 = thread }
        return lane
    }

    /// Whether its three connections are open and nothing it must publish is unroutable.
    public var isReady: Bool { ready.load(ordering: .relaxed) }

    /// Waits for the thread to end after the stop signal; false if it did not within `limit`.
    public func join(for limit: Duration) -> Bool { thread.withLock { $0 }?.join(for: limit) ?? true }

    private func run(
        _ configuration: LaneConfiguration, stop: StopSignal, logger: Logger, instruments: LaneMetrics,
        probe: any LaneProbe, makeHandler: () throws -> any Handler
    ) {
        var backoff = Backoff()
        while !stop.isStopped {
            do {
                var session = try LaneSession.open(
                    configuration, handler: try makeHandler(), stop: stop, logger: logger, instruments: instruments,
                    probe: probe, setReady: { self.setReady($0, instruments) })
                logger.info("lane open")
                setReady(true, instruments)
                backoff.reset()
                try session.serve()
                session.finish()
                logger.info("lane stopped")
            } catch let crash as SimulatedCrash {
                logger.warning("lane ended by its probe", ["crash.point": .string(crash.point.rawValue)])
                setReady(false, instruments)
                return
            } catch is LaneStopped {
                logger.info("lane stopped with a batch in hand; the broker will deliver it again")
            } catch {
                instruments.reconnects.increment()
                logger.warning("lane lost a connection", ["error": .string(describe(error))])
                setReady(false, instruments)
                _ = stop.wait(for: backoff.next())
            }
        }
        setReady(false, instruments)
    }

    private func setReady(_ isReady: Bool, _ instruments: LaneMetrics) {
        ready.store(isReady, ordering: .relaxed)
        instruments.ready.set(isReady ? 1 : 0)
    }
}

/// The stop signal came while a batch could not be finished.
struct LaneStopped: Error {}

/// The stable code and the payload-free description of an error.
func describe(_ error: any Error) -> String {
    switch error {
    case let error as AMQPError: "\(error.code): \(error)"
    case let error as PostgresError: "\(error.code): \(error)"
    default: "\(type(of: error))"
    }
}
