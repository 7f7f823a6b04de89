import CRabbitMQ

/// Memory for what one call hands to the library: strings, tables. Everything in it lives until `clear`.
struct WireArena: ~Copyable {
    private let pool: UnsafeMutablePointer<amqp_pool_t>

    init() {
        pool = .allocate(capacity: 1)
        // 4 KiB pages hold the strings and headers of a message several times over.
        init_amqp_pool(pool, 4_096)
    }

    deinit {
        empty_amqp_pool(pool)
        pool.deallocate()
    }

    /// Frees everything at once.
    mutating func clear() { recycle_amqp_pool(pool) }

    mutating func bytes(_ text: String) -> amqp_bytes_t {
        var text = text
        return text.withUTF8 { utf8 in
            // The library reads `bytes` only when `len` is not 0.
            guard let source = utf8.baseAddress, let copy = amqp_pool_alloc(pool, utf8.count), !utf8.isEmpty else {
                return amqp_bytes_t(len: 0, bytes: nil)
            }
            copy.copyMemory(from: source, byteCount: utf8.count)
            return amqp_bytes_t(len: utf8.count, bytes: copy)
        }
    }

    mutating func table(_ values: [String: AMQPHeaderValue]) -> amqp_table_t {
        guard let entries = space(for: amqp_table_entry_t.self, count: values.count) else {
            return amqp_table_t(num_entries: 0, entries: nil)
        }
        for (index, (key, value)) in values.enumerated() {
            entries.advanced(by: index).initialize(to: amqp_table_entry_t(key: bytes(key), value: field(value)))
        }
        return amqp_table_t(num_entries: Int32(values.count), entries: entries)
    }

    private mutating func array(_ values: [AMQPHeaderValue]) -> amqp_array_t {
        guard let entries = space(for: amqp_field_value_t.self, count: values.count) else {
            return amqp_array_t(num_entries: 0, entries: nil)
        }
        for (index, value) in values.enumerated() { entries.advanced(by: index).initialize(to: field(value)) }
        return amqp_array_t(num_entries: Int32(values.count), entries: entries)
    }

    private mutating func field(_ value: AMQPHeaderValue) -> amqp_field_value_t {
        var field = amqp_field_value_t()
        switch value {
        case .string(let text):
            field.kind = FieldKind.text
            field.value.bytes = bytes(text)
        case .int64(let number):
            field.kind = FieldKind.int64
            field.value.i64 = number
        case .bool(let flag):
            field.kind = FieldKind.boolean
            field.value.boolean = flag ? 1 : 0
        case .table(let values):
            field.kind = FieldKind.table
            field.value.table = table(values)
        case .array(let values):
            field.kind = FieldKind.array
            field.value.array = array(values)
        }
        return field
    }

    private mutating func space<Value>(for type: Value.Type, count: Int) -> UnsafeMutablePointer<Value>? {
        guard count > 0 else { return nil }
        return amqp_pool_alloc(pool, count * MemoryLayout<Value>.stride)?.bindMemory(to: Value.self, capacity: count)
    }

    /// Message properties in the library's form.
    mutating func properties(_ properties: MessageProperties) -> amqp_basic_properties_t {
        var wire = amqp_basic_properties_t()
        // Delivery mode 2 is persistent, 1 transient.
        wire.delivery_mode = properties.isPersistent ? 2 : 1
        var flags = AMQP_BASIC_DELIVERY_MODE_FLAG
        if let value = properties.messageID {
            wire.message_id = bytes(value)
            flags |= AMQP_BASIC_MESSAGE_ID_FLAG
        }
        if let value = properties.type {
            wire.type = bytes(value)
            flags |= AMQP_BASIC_TYPE_FLAG
        }
        if let value = properties.correlationID {
            wire.correlation_id = bytes(value)
            flags |= AMQP_BASIC_CORRELATION_ID_FLAG
        }
        if let value = properties.replyTo {
            wire.reply_to = bytes(value)
            flags |= AMQP_BASIC_REPLY_TO_FLAG
        }
        if let value = properties.contentType {
            wire.content_type = bytes(value)
            flags |= AMQP_BASIC_CONTENT_TYPE_FLAG
        }
        if let value = properties.appID {
            wire.app_id = bytes(value)
            flags |= AMQP_BASIC_APP_ID_FLAG
        }
        if let value = properties.expiration {
            wire.expiration = bytes(value)
            flags |= AMQP_BASIC_EXPIRATION_FLAG
        }
        if let value = properties.timestamp {
            wire.timestamp = UInt64(bitPattern: value)
            flags |= AMQP_BASIC_TIMESTAMP_FLAG
        }
        if !properties.headers.isEmpty {
            wire.headers = table(properties.headers)
            flags |= AMQP_BASIC_HEADERS_FLAG
        }
        wire._flags = amqp_flags_t(flags)
        return wire
    }
}

/// The letters of the field kinds Purser writes, as RabbitMQ reads them.
enum FieldKind {
    static let text = UInt8(ascii: "S")
    static let int64 = UInt8(ascii: "l")
    static let boolean = UInt8(ascii: "t")
    static let table = UInt8(ascii: "F")
    static let array = UInt8(ascii: "A")
}
