import CRabbitMQ
import Glibc
import Observability

/// The library's connection, with its one channel. Owned by one thread and freed with the value; a failed connection
/// cannot be used again (librabbitmq has no way to reopen one).
struct ConnectionHandle: ~Copyable {
    /// The only channel: the library loses frames of a second one while it waits for the first.
    static let channel: amqp_channel_t = 1

    let state: amqp_connection_state_t
    var arena = WireArena()

    private init(adopting state: amqp_connection_state_t) { self.state = state }

    deinit { amqp_destroy_connection(state) }

    /// Dials and logs in. Blocks for the endpoint's connect and reply timeouts at most, plus name resolution.
    static func open(_ endpoint: AMQPEndpoint, connectionName: String) throws(AMQPError) -> ConnectionHandle {
        // 0 would switch heartbeats off: a half-open connection would then hang for ever.
        guard (1...Int(UInt16.max)).contains(endpoint.heartbeat) else {
            throw .invalidURL(reason: "the heartbeat is not within 1 to 65535 s")
        }
        guard let state = amqp_new_connection() else { throw .connectionFailed(reason: "out of memory") }
        var handle = ConnectionHandle(adopting: state)
        try handle.dial(endpoint)
        try handle.login(endpoint, connectionName: connectionName)
        return handle
    }

    private mutating func dial(_ endpoint: AMQPEndpoint) throws(AMQPError) {
        let socket: OpaquePointer?
        if let tls = endpoint.tls {
            socket = try makeSecureSocket(tls)
        } else {
            socket = amqp_tcp_socket_new(state)
        }
        guard let socket else { throw .connectionFailed(reason: "out of memory") }
        var timeout = timeval(endpoint.connectTimeout)
        let status = amqp_socket_open_noblock(socket, endpoint.host, Int32(endpoint.port), &timeout)
        guard status == Status.ok else { throw .connectionFailed(reason: Status.text(status)) }
        // Two heartbeats, like the other direction.
        _ = purser_amqp_set_user_timeout(state, UInt32(endpoint.heartbeat * 2 * 1_000))
    }

    private mutating func makeSecureSocket(_ options: AMQPEndpoint.TLSOptions) throws(AMQPError) -> OpaquePointer? {
        guard let socket = amqp_ssl_socket_new(state) else { return nil }
        amqp_ssl_socket_set_verify_peer(socket, 1)
        amqp_ssl_socket_set_verify_hostname(socket, 1)
        // The library's own minimum is TLS 1.0 (RFC 8996 forbids it).
        guard amqp_ssl_socket_set_ssl_versions(socket, AMQP_TLSv1_2, AMQP_TLSvLATEST) == Status.ok else {
            throw .invalidTLSOptions(reason: "TLS 1.2 cannot be required")
        }
        guard amqp_ssl_socket_set_cacert(socket, options.authorityFile) == Status.ok else {
            throw .invalidTLSOptions(reason: "the file of authorities cannot be read")
        }
        if let certificate = options.certificateFile {
            guard amqp_ssl_socket_set_key(socket, certificate, options.keyFile ?? certificate) == Status.ok else {
                throw .invalidTLSOptions(reason: "the client's certificate or key cannot be read")
            }
        }
        return socket
    }

    private mutating func login(_ endpoint: AMQPEndpoint, connectionName: String) throws(AMQPError) {
        var timeout = timeval(endpoint.replyTimeout)
        amqp_set_handshake_timeout(state, &timeout)
        amqp_set_rpc_timeout(state, &timeout)
        var properties = arena.table(Self.clientProperties(connectionName: connectionName))
        defer { arena.clear() }
        // Frames of 128 KiB are the broker's default too: every usual message is one frame.
        let reply = purser_amqp_login(
            state, endpoint.virtualHost, Int32(Self.channel), 131_072, Int32(endpoint.heartbeat), &properties,
            endpoint.user, endpoint.password.reveal())
        switch reply.reply_type {
        case AMQP_RESPONSE_NORMAL: return
        case AMQP_RESPONSE_SERVER_EXCEPTION: throw Self.refusal(reply.reply)
        case AMQP_RESPONSE_LIBRARY_EXCEPTION:
            throw .connectionFailed(reason: "handshake: " + Status.text(reply.library_error))
        default: throw .connectionFailed(reason: "handshake: the broker hung up")
        }
    }

    /// librabbitmq announces none of these by itself; without them the broker ends a subscription, blocks a publisher
    /// or rejects a message without saying so (RabbitMQ: consumer cancel notification, blocked connection
    /// notifications, publisher confirms, authentication failure notifications).
    private static func clientProperties(connectionName: String) -> [String: AMQPHeaderValue] {
        [
            "product": "Purser",
            "connection_name": .string(connectionName),
            "capabilities": [
                "consumer_cancel_notify": true, "connection.blocked": true, "basic.nack": true,
                "publisher_confirms": true, "authentication_failure_close": true,
            ],
        ]
    }

    private static func refusal(_ method: amqp_method_t) -> AMQPError {
        guard method.id == MethodNumber.connectionClose.rawValue,
            let close = method.decoded?.assumingMemoryBound(to: amqp_connection_close_t.self).pointee
        else { return .connectionFailed(reason: "handshake: unexpected answer") }
        let (code, text) = (Int(close.reply_code), String(close.reply_text))
        // 403 access refused; 530 not allowed: no such virtual host, or no permission for it.
        return code == 403 || code == 530 ? .accessRefused(text: text) : .connectionClosed(code: code, text: text)
    }

    /// Waits for the next frame, serving heartbeats; nil if none came within the time.
    mutating func nextFrame(within duration: Duration) throws(AMQPError) -> Frame? {
        var frame = amqp_frame_t()
        var timeout = timeval(duration)
        let status = amqp_simple_wait_frame_noblock(state, &frame, &timeout)
        if status == Status.timedOut { return nil }
        try Status.check(status)
        // Without this, decoded frames pile up for the life of the connection. Everything is copied by then.
        defer { amqp_maybe_release_buffers(state) }
        return try Frame(frame)
    }

    /// Whether the socket takes bytes within the time.
    mutating func isWritable(within duration: Duration) -> Bool {
        let timeout = timeval(duration)
        return purser_amqp_wait_writable(state, Int32(timeout.tv_sec * 1_000 + timeout.tv_usec / 1_000)) != 0
    }

    /// Writes a message; success means it is in the kernel's buffer, no more.
    mutating func publish(_ message: OutgoingMessage) throws(AMQPError) {
        var properties = arena.properties(message.properties)
        let exchange = arena.bytes(message.exchange)
        let routingKey = arena.bytes(message.routingKey)
        defer { arena.clear() }
        let status = message.body.withUnsafeBytes { body in
            amqp_basic_publish(
                state, Self.channel, exchange, routingKey, message.isMandatory ? 1 : 0, 0, &properties,
                amqp_bytes_t(len: body.count, bytes: UnsafeMutableRawPointer(mutating: body.baseAddress)))
        }
        try Status.check(status)
    }
}

extension AMQPHeaderValue: ExpressibleByDictionaryLiteral {
    /// A table.
    public init(dictionaryLiteral elements: (String, AMQPHeaderValue)...) {
        self = .table(Dictionary(elements, uniquingKeysWith: { _, last in last }))
    }
}
