import CRabbitMQ
import Glibc

/// The library's status codes as errors.
enum Status {
    static let ok = AMQP_STATUS_OK.rawValue
    static let timedOut = AMQP_STATUS_TIMEOUT.rawValue

    static func check(_ status: Int32) throws(AMQPError) {
        if status == ok { return }
        if status == AMQP_STATUS_HEARTBEAT_TIMEOUT.rawValue { throw .heartbeatMissed }
        throw .connectionLost(reason: text(status))
    }

    static func text(_ status: Int32) -> String { String(cString: amqp_error_string2(status)) }
}

extension timeval {
    /// A duration in the system's form; negative ones count as none.
    init(_ duration: Duration) {
        let (seconds, attoseconds) = max(.zero, duration).components
        self.init(tv_sec: Int(seconds), tv_usec: Int(attoseconds / 1_000_000_000_000))
    }
}
