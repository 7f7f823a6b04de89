import CRabbitMQ

extension ConnectionHandle {
    /// Writes a request; its answer comes as a frame.
    mutating func send(_ request: Request) throws(AMQPError) {
        defer { arena.clear() }
        let status: Int32
        switch request {
        case .openChannel, .selectConfirms, .setPrefetch, .closeConnection, .confirmConnectionClose,
            .confirmChannelClose:
            status = sendControl(request)
        case .consume, .endConsuming, .acknowledge: status = sendConsuming(request)
        case .declareExchange, .deleteExchange, .declareQueue, .bindQueue, .deleteQueue:
            status = sendTopology(request)
        }
        try Status.check(status)
    }

    private func send<Arguments>(_ number: MethodNumber, _ arguments: Arguments, on channel: amqp_channel_t) -> Int32 {
        var arguments = arguments
        return withUnsafeMutableBytes(of: &arguments) { bytes in
            amqp_send_method(state, channel, number.rawValue, bytes.baseAddress)
        }
    }

    private mutating func sendControl(_ request: Request) -> Int32 {
        switch request {
        case .openChannel: return send(.channelOpen, amqp_channel_open_t(), on: Self.channel)
        case .selectConfirms: return send(.confirmSelect, amqp_confirm_select_t(nowait: 0), on: Self.channel)
        case .setPrefetch(let count):
            // Per consumer, never global: quorum queues close the connection on a global one.
            let qos = amqp_basic_qos_t(
                prefetch_size: 0, prefetch_count: UInt16(clamping: count), global: 0)
            return send(.basicQos, qos, on: Self.channel)
        case .closeConnection:
            // 200: reply-success, a regular end.
            let close = amqp_connection_close_t(
                reply_code: 200, reply_text: arena.bytes("done"), class_id: 0, method_id: 0)
            return send(.connectionClose, close, on: 0)
        case .confirmConnectionClose: return send(.connectionCloseOk, amqp_connection_close_ok_t(), on: 0)
        default: return send(.channelCloseOk, amqp_channel_close_ok_t(), on: Self.channel)
        }
    }

    private mutating func sendConsuming(_ request: Request) -> Int32 {
        switch request {
        case .consume(let queue, let consumerTag, let arguments):
            let consume = amqp_basic_consume_t(
                ticket: 0, queue: arena.bytes(queue), consumer_tag: arena.bytes(consumerTag), no_local: 0, no_ack: 0,
                exclusive: 0, nowait: 0, arguments: arena.table(arguments))
            return send(.basicConsume, consume, on: Self.channel)
        case .endConsuming(let consumerTag):
            let cancel = amqp_basic_cancel_t(consumer_tag: arena.bytes(consumerTag), nowait: 0)
            return send(.basicCancel, cancel, on: Self.channel)
        case .acknowledge(let tag, let isMultiple):
            return send(
                .basicAck, amqp_basic_ack_t(delivery_tag: tag, multiple: isMultiple ? 1 : 0), on: Self.channel)
        default: return Status.ok
        }
    }

    private mutating func sendTopology(_ request: Request) -> Int32 {
        switch request {
        case .declareExchange(let name, let kind, let isPassive):
            let declare = amqp_exchange_declare_t(
                ticket: 0, exchange: arena.bytes(name), type: arena.bytes(kind), passive: isPassive ? 1 : 0,
                durable: 1, auto_delete: 0, internal: 0, nowait: 0, arguments: arena.table([:]))
            return send(.exchangeDeclare, declare, on: Self.channel)
        case .deleteExchange(let name):
            let delete = amqp_exchange_delete_t(ticket: 0, exchange: arena.bytes(name), if_unused: 0, nowait: 0)
            return send(.exchangeDelete, delete, on: Self.channel)
        case .declareQueue(let queue):
            let declare = amqp_queue_declare_t(
                ticket: 0, queue: arena.bytes(queue.name), passive: queue.isPassive ? 1 : 0,
                durable: queue.isDurable ? 1 : 0, exclusive: queue.isExclusive ? 1 : 0,
                auto_delete: queue.isAutoDelete ? 1 : 0, nowait: 0, arguments: arena.table(queue.arguments))
            return send(.queueDeclare, declare, on: Self.channel)
        case .bindQueue(let name, let exchange, let routingKey):
            let bind = amqp_queue_bind_t(
                ticket: 0, queue: arena.bytes(name), exchange: arena.bytes(exchange),
                routing_key: arena.bytes(routingKey), nowait: 0, arguments: arena.table([:]))
            return send(.queueBind, bind, on: Self.channel)
        case .deleteQueue(let name):
            let delete = amqp_queue_delete_t(
                ticket: 0, queue: arena.bytes(name), if_unused: 0, if_empty: 0, nowait: 0)
            return send(.queueDelete, delete, on: Self.channel)
        default: return Status.ok
        }
    }
}
