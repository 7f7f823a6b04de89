import CRabbitMQ

extension Frame {
    /// A copy of the library's frame.
    init(_ frame: amqp_frame_t) throws(AMQPError) {
        switch Int32(frame.frame_type) {
        case AMQP_FRAME_METHOD: self = .method(Method(frame.payload.method))
        case AMQP_FRAME_HEADER:
            // Class 60 is basic, the only one with content.
            guard frame.payload.properties.class_id == 60, let decoded = frame.payload.properties.decoded else {
                throw .protocolViolation(reason: "a content header of an unknown class came")
            }
            self = .header(
                bodySize: frame.payload.properties.body_size,
                MessageProperties(decoded.assumingMemoryBound(to: amqp_basic_properties_t.self).pointee))
        case AMQP_FRAME_BODY: self = .body([UInt8](frame.payload.body_fragment))
        default: throw .protocolViolation(reason: "a frame of an unknown kind came")
        }
    }
}

extension Method {
    /// A copy of the library's method; those Purser has no use for are `other`.
    init(_ method: amqp_method_t) {
        guard let number = MethodNumber(rawValue: method.id), let decoded = method.decoded else {
            self = .other(number: method.id)
            return
        }
        self = Method(channelMethod: number, decoded) ?? Method(answer: number, decoded) ?? .other(number: method.id)
    }

    private init?(channelMethod number: MethodNumber, _ decoded: UnsafeMutableRawPointer) {
        switch number {
        case .basicDeliver:
            let deliver = decoded.assumingMemoryBound(to: amqp_basic_deliver_t.self).pointee
            self = .deliver(
                tag: deliver.delivery_tag, isRedelivered: deliver.redelivered != 0,
                exchange: String(deliver.exchange), routingKey: String(deliver.routing_key))
        case .basicReturn:
            let back = decoded.assumingMemoryBound(to: amqp_basic_return_t.self).pointee
            self = .returned(
                code: Int(back.reply_code), text: String(back.reply_text), exchange: String(back.exchange),
                routingKey: String(back.routing_key))
        case .basicAck:
            let ack = decoded.assumingMemoryBound(to: amqp_basic_ack_t.self).pointee
            self = .acknowledged(tag: ack.delivery_tag, isMultiple: ack.multiple != 0)
        case .basicNack:
            let nack = decoded.assumingMemoryBound(to: amqp_basic_nack_t.self).pointee
            self = .rejected(tag: nack.delivery_tag, isMultiple: nack.multiple != 0)
        case .basicCancel:
            let cancel = decoded.assumingMemoryBound(to: amqp_basic_cancel_t.self).pointee
            self = .consumerCancelled(consumerTag: String(cancel.consumer_tag))
        case .connectionBlocked: self = .blocked
        case .connectionUnblocked: self = .unblocked
        case .channelClose:
            let close = decoded.assumingMemoryBound(to: amqp_channel_close_t.self).pointee
            self = .channelClose(code: Int(close.reply_code), text: String(close.reply_text))
        case .connectionClose:
            let close = decoded.assumingMemoryBound(to: amqp_connection_close_t.self).pointee
            self = .connectionClose(code: Int(close.reply_code), text: String(close.reply_text))
        default: return nil
        }
    }

    private init?(answer number: MethodNumber, _ decoded: UnsafeMutableRawPointer) {
        switch number {
        case .channelOpenOk: self = .reply(.channelOpened)
        case .confirmSelectOk: self = .reply(.confirmsSelected)
        case .basicQosOk: self = .reply(.prefetchSet)
        case .basicConsumeOk: self = .reply(.consuming)
        case .basicCancelOk: self = .reply(.consumingEnded)
        case .exchangeDeclareOk: self = .reply(.exchangeDeclared)
        case .exchangeDeleteOk: self = .reply(.exchangeDeleted)
        case .queueDeclareOk:
            let queue = decoded.assumingMemoryBound(to: amqp_queue_declare_ok_t.self).pointee
            self = .reply(.queueDeclared(messages: Int(queue.message_count), consumers: Int(queue.consumer_count)))
        case .queueBindOk: self = .reply(.queueBound)
        case .queueDeleteOk: self = .reply(.queueDeleted)
        case .connectionCloseOk: self = .reply(.connectionClosed)
        default: return nil
        }
    }
}
