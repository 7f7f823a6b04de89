import CRabbitMQ

// Everything here copies: the library's memory is released after each frame.

extension String {
    /// The text behind the library's bytes; what is not UTF-8 becomes U+FFFD.
    init(_ bytes: amqp_bytes_t) {
        self.init(decoding: UnsafeRawBufferPointer(start: bytes.bytes, count: bytes.len), as: UTF8.self)
    }
}

extension String {
    /// The text behind the library's bytes, nil if it is not UTF-8. What is sent on has to fit where it came from: a
    /// short text of 255 bytes whose strange bytes became U+FFFD would have three times as many and fit nowhere.
    init?(validating bytes: amqp_bytes_t) {
        let buffer = UnsafeRawBufferPointer(start: bytes.bytes, count: bytes.len)
        self.init(validating: buffer, as: UTF8.self)
    }
}

extension Array where Element == UInt8 {
    /// A copy of the library's bytes.
    init(_ bytes: amqp_bytes_t) {
        self.init(UnsafeRawBufferPointer(start: bytes.bytes, count: bytes.len))
    }
}

extension MessageProperties {
    /// The properties in the library's form; a text that is not UTF-8 counts as absent.
    init(_ wire: amqp_basic_properties_t) {
        func text(_ bytes: amqp_bytes_t, _ flag: Int32) -> String? {
            wire._flags & amqp_flags_t(flag) != 0 ? String(validating: bytes) : nil
        }
        func has(_ flag: Int32) -> Bool { wire._flags & amqp_flags_t(flag) != 0 }
        self.init(
            messageID: text(wire.message_id, AMQP_BASIC_MESSAGE_ID_FLAG),
            type: text(wire.type, AMQP_BASIC_TYPE_FLAG),
            correlationID: text(wire.correlation_id, AMQP_BASIC_CORRELATION_ID_FLAG),
            replyTo: text(wire.reply_to, AMQP_BASIC_REPLY_TO_FLAG),
            contentType: text(wire.content_type, AMQP_BASIC_CONTENT_TYPE_FLAG),
            appID: text(wire.app_id, AMQP_BASIC_APP_ID_FLAG),
            timestamp: has(AMQP_BASIC_TIMESTAMP_FLAG) ? Int64(bitPattern: wire.timestamp) : nil,
            expiration: text(wire.expiration, AMQP_BASIC_EXPIRATION_FLAG),
            isPersistent: has(AMQP_BASIC_DELIVERY_MODE_FLAG) && wire.delivery_mode == 2,
            headers: has(AMQP_BASIC_HEADERS_FLAG) ? AMQPHeaderValue.read(wire.headers, depth: 0) : [:])
    }
}

extension AMQPHeaderValue {
    /// Deeper nesting is skipped: `x-death`, the deepest header there is, needs 2.
    private static let depthLimit = 8

    static func read(_ table: amqp_table_t, depth: Int) -> [String: AMQPHeaderValue] {
        let entries = UnsafeBufferPointer(start: table.entries, count: Int(max(0, table.num_entries)))
        var values: [String: AMQPHeaderValue] = [:]
        for entry in entries {
            guard let key = String(validating: entry.key) else { continue }
            values[key] = read(entry.value, depth: depth)
        }
        return values
    }

    private static func read(_ field: amqp_field_value_t, depth: Int) -> AMQPHeaderValue? {
        let value = field.value
        switch field.kind {
        case FieldKind.text: return String(validating: value.bytes).map { .string($0) }
        case FieldKind.boolean: return .bool(value.boolean != 0)
        case UInt8(ascii: "b"): return .int64(Int64(value.i8))
        case UInt8(ascii: "B"): return .int64(Int64(value.u8))
        case UInt8(ascii: "s"): return .int64(Int64(value.i16))
        case UInt8(ascii: "u"): return .int64(Int64(value.u16))
        case UInt8(ascii: "I"): return .int64(Int64(value.i32))
        case UInt8(ascii: "i"): return .int64(Int64(value.u32))
        case FieldKind.int64: return .int64(value.i64)
        case UInt8(ascii: "L"): return Int64(exactly: value.u64).map { .int64($0) }
        case FieldKind.table where depth < depthLimit: return .table(read(value.table, depth: depth + 1))
        case FieldKind.array where depth < depthLimit:
            let list = UnsafeBufferPointer(start: value.array.entries, count: Int(max(0, value.array.num_entries)))
            return .array(list.compactMap { read($0, depth: depth + 1) })
        default: return nil
        }
    }
}
