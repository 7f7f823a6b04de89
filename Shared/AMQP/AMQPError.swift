/// What can go wrong with RabbitMQ. After any error but `invalidURL` and `foreignDeliveryTag` the connection is
/// finished: drop the publisher or consumer and open a new one, with backoff.
public enum AMQPError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The connection URL is not usable; the reason quotes nothing of it.
    case invalidURL(reason: String)
    /// The TLS files of the endpoint could not be used.
    case invalidTLSOptions(reason: String)
    /// No TCP or TLS connection, or no AMQP handshake, within the time allowed.
    case connectionFailed(reason: String)
    /// The broker refused the credentials or the virtual host.
    case accessRefused(text: String)
    /// The broker closed the connection (AMQP 0-9-1 reply code, for example 320 when it shuts down).
    case connectionClosed(code: Int, text: String)
    /// The broker closed the channel (for example 404 no such queue, 406 unknown delivery tag).
    case channelClosed(code: Int, text: String)
    /// The socket broke.
    case connectionLost(reason: String)
    /// Nothing was heard from the broker for two heartbeats: half-open connection or a hung broker.
    case heartbeatMissed
    /// The broker did not answer a request in time.
    case timedOut(operation: String)
    /// The broker ended the subscription: its queue was deleted or lost.
    case consumerCancelled(queue: String)
    /// The broker sent what the protocol does not allow here.
    case protocolViolation(reason: String)
    /// A delivery was to be acknowledged on another connection than it came from; nothing was sent.
    case foreignDeliveryTag
    /// The publisher or consumer failed or was closed before.
    case closed

    /// A stable name for logs and metrics.
    public var code: String {
        switch self {
        case .invalidURL: "amqp.invalid_url"
        case .invalidTLSOptions: "amqp.invalid_tls_options"
        case .connectionFailed: "amqp.connection_failed"
        case .accessRefused: "amqp.access_refused"
        case .connectionClosed: "amqp.connection_closed"
        case .channelClosed: "amqp.channel_closed"
        case .connectionLost: "amqp.connection_lost"
        case .heartbeatMissed: "amqp.heartbeat_missed"
        case .timedOut: "amqp.timed_out"
        case .consumerCancelled: "amqp.consumer_cancelled"
        case .protocolViolation: "amqp.protocol_violation"
        case .foreignDeliveryTag: "amqp.foreign_delivery_tag"
        case .closed: "amqp.closed"
        }
    }

    /// Whether opening a new connection later can help while this process stays as it is. Refusals count as
    /// retryable: users, queues and permissions may be imported after the service started.
    public var isRetryable: Bool {
        switch self {
        case .invalidURL, .invalidTLSOptions, .foreignDeliveryTag: false
        default: true
        }
    }

    /// What happened, with the broker's own text where there is one; never credentials or message content.
    public var description: String {
        switch self {
        case .invalidURL(let reason): "the AMQP URL is not usable: \(reason)"
        case .invalidTLSOptions(let reason): "the TLS options are not usable: \(reason)"
        case .connectionFailed(let reason): "cannot connect to the broker: \(reason)"
        case .accessRefused(let text): "the broker refused access: \(text)"
        case .connectionClosed(let code, let text): "the broker closed the connection: \(code) \(text)"
        case .channelClosed(let code, let text): "the broker closed the channel: \(code) \(text)"
        case .connectionLost(let reason): "the connection to the broker broke: \(reason)"
        case .heartbeatMissed: "the broker is silent: two heartbeats were missed"
        case .timedOut(let operation): "the broker did not answer in time: \(operation)"
        case .consumerCancelled(let queue): "the broker ended the subscription to \(queue)"
        case .protocolViolation(let reason): "the broker broke the protocol: \(reason)"
        case .foreignDeliveryTag: "the delivery belongs to another connection"
        case .closed: "the connection was closed before"
        }
    }
}
