public import AMQP
public import Messages
public import Observability

/// Where a lane works and how much it takes at once.
public struct LaneConfiguration: Sendable {
    /// The service, prefix of its queues and name of its schema.
    public var service: String
    /// The queue it consumes.
    public var queue: Topology.Queue
    /// The broker.
    public var broker: AMQPEndpoint
    /// The database (libpq connection string).
    public var database: Secret
    /// Deliveries in hand at most. 64: lanes × prefetch × 64 KiB bodies bounds memory, and batches of 64 reach nine
    /// tenths of the best measured throughput.
    public var prefetch = 64
    /// Messages a transaction at most: half of what is in hand, so that the broker has the next batch delivered while
    /// one awaits its confirms.
    var batchLimit: Int { max(1, prefetch / 2) }
    /// Whether nobody waits for what it does: when processors are scarce it lets the gateway and the other lanes go first
    /// (a tenth of their share), so that a burst of such messages delays nobody who is waiting for an answer.
    public var yieldsToOthers = false
    /// Told of each fact that a commit left to be published, on the lane's thread: for lines in the log. A message that
    /// comes again tells its facts again.
    public var noting: (@Sendable (Fact, Logger) -> Void)?
    /// How long a committed batch may stay unannounced before any lane publishes its facts (seconds).
    public var sweepAfterSeconds: Int64 = 15
    /// How often a lane looks for such batches.
    public var sweepInterval: Duration = .seconds(5)

    /// A lane of `service` on `queue`.
    public init(service: String, queue: Topology.Queue, broker: AMQPEndpoint, database: Secret) {
        self.service = service
        self.queue = queue
        self.broker = broker
        self.database = database
    }
}
