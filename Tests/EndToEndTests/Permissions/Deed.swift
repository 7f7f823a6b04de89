/// Something a client may ask a broker to do.
enum Deed: Sendable {
    /// `copies` are further routing keys in the header CC. Answered by a confirm, also if no queue takes it.
    case publish(exchange: String, key: String, copies: [String] = [], body: String = "{}")
    case consume(String)
    case get(String)
    case purge(String)
    case declareQueue(String, [String: Wire.Value] = [:])
    case deleteQueue(String)
    case bind(String, exchange: String, key: String)
    case unbind(String, exchange: String, key: String)
    /// Made as a topic exchange.
    case declareExchange(String, [String: Wire.Value] = [:])
    case deleteExchange(String)
    /// Sends on to `exchange` what comes to `source`.
    case bindExchange(String, source: String, key: String)

    /// The methods that say it was done.
    var answers: [UInt32] {
        switch self {
        case .publish: [Wire.number(60, 80)]
        case .consume: [Wire.number(60, 21)]
        case .get: [Wire.number(60, 71), Wire.number(60, 72)]
        case .purge: [Wire.number(50, 31)]
        case .declareQueue: [Wire.number(50, 11)]
        case .deleteQueue: [Wire.number(50, 41)]
        case .bind: [Wire.number(50, 21)]
        case .unbind: [Wire.number(50, 51)]
        case .declareExchange: [Wire.number(40, 11)]
        case .deleteExchange: [Wire.number(40, 21)]
        case .bindExchange: [Wire.number(40, 31)]
        }
    }

    /// What is sent on a channel that was just opened.
    func frames(channel: Int) -> [UInt8] {
        let reserved: [UInt8] = [0, 0]
        func method(_ classID: Int, _ methodID: Int, _ names: [String], _ rest: [UInt8] = []) -> [UInt8] {
            Wire.method(channel, classID, methodID, reserved + names.flatMap { Wire.short($0) } + rest)
        }
        let empty = Wire.table([:])
        switch self {
        case .publish(let exchange, let key, let copies, let body):
            return Wire.method(channel, 85, 10, [0]) + method(60, 40, [exchange, key], [0])
                + Wire.content(channel, headers: copies.isEmpty ? [:] : ["CC": .texts(copies)], body: Array(body.utf8))
        case .consume(let queue): return method(60, 20, [queue, ""], [0] + empty)
        case .get(let queue): return method(60, 70, [queue], [0])
        case .purge(let queue): return method(50, 30, [queue], [0])
        // 2: durable.
        case .declareQueue(let name, let arguments): return method(50, 10, [name], [2] + Wire.table(arguments))
        case .deleteQueue(let name): return method(50, 40, [name], [0])
        case .bind(let queue, let exchange, let key): return method(50, 20, [queue, exchange, key], [0] + empty)
        case .unbind(let queue, let exchange, let key): return method(50, 50, [queue, exchange, key], empty)
        case .declareExchange(let name, let arguments):
            return method(40, 10, [name, "topic"], [2] + Wire.table(arguments))
        case .deleteExchange(let name): return method(40, 20, [name], [0])
        case .bindExchange(let name, let source, let key): return method(40, 30, [name, source, key], [0] + empty)
        }
    }
}

/// The bytes of AMQP 0-9-1.
enum Wire {
    /// A value of a table.
    enum Value: Sendable {
        case text(String)
        case integer(Int64)
        case texts([String])
    }

    /// Class and method as one number, as they begin a frame.
    static func number(_ classID: Int, _ methodID: Int) -> UInt32 { UInt32(classID) << 16 | UInt32(methodID) }

    static func method(_ channel: Int, _ classID: Int, _ methodID: Int, _ arguments: [UInt8]) -> [UInt8] {
        frame(1, channel, big(classID, 2) + big(methodID, 2) + arguments)
    }

    /// Header (60: class basic; 0x2000: there are headers) and body.
    static func content(_ channel: Int, headers: [String: Value], body: [UInt8]) -> [UInt8] {
        frame(2, channel, big(60, 2) + [0, 0] + big(body.count, 8) + [0x20, 0] + table(headers))
            + frame(3, channel, body)
    }

    static func short(_ text: String) -> [UInt8] { [UInt8(truncatingIfNeeded: text.utf8.count)] + Array(text.utf8) }
    static func long(_ bytes: [UInt8]) -> [UInt8] { big(bytes.count, 4) + bytes }

    static func table(_ values: [String: Value]) -> [UInt8] {
        long(values.flatMap { short($0.key) + field($0.value) })
    }

    private static func field(_ value: Value) -> [UInt8] {
        switch value {
        case .text(let text): [UInt8(ascii: "S")] + long(Array(text.utf8))
        case .integer(let integer): [UInt8(ascii: "l")] + big(Int(integer), 8)
        case .texts(let texts): [UInt8(ascii: "A")] + long(texts.flatMap { field(.text($0)) })
        }
    }

    private static func frame(_ kind: UInt8, _ channel: Int, _ payload: [UInt8]) -> [UInt8] {
        [kind] + big(channel, 2) + big(payload.count, 4) + payload + [0xCE]
    }

    private static func big(_ value: Int, _ bytes: Int) -> [UInt8] {
        (0..<bytes).map { UInt8(truncatingIfNeeded: value >> (8 * (bytes - 1 - $0))) }
    }
}
