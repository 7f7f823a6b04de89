import AMQP
import Messages

/// How many messages were set aside for an operator.
enum ParkedQueues {
    /// Asks the broker (queue.declare passive, which takes no right: what is in them is not read). Blocks for some ms.
    static func count(_ endpoint: AMQPEndpoint) throws(AMQPError) -> [String: Int] {
        var inspector = try Inspector.open(endpoint, connectionName: "purser-reconciliation parked")
        defer { inspector.close() }
        var counts: [String: Int] = [:]
        for queue in Topology.workQueues { counts[queue.parkedName] = try inspector.queue(queue.parkedName)?.messages }
        return counts
    }
}
