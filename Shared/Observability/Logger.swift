import Glibc

/// Writes JSON lines: one event, one line, a constant message, and what varies in dotted keys.
///
///     logger.info("purchase granted", ["message.id": .string(id), "batch.size": .int(count)])
///
/// A value type: ``with(_:)`` gives a copy that adds its fields to every line, for example the correlation id of the
/// message being handled. Any thread may use it; a line is handed to `write` whole. Never pass a JWS, a receipt, an
/// e-mail address, a token or a key.
public struct Logger: Sendable {
    /// Where finished lines go, each ending with a newline. Called on the logging thread.
    public typealias Write = @Sendable ([UInt8]) -> Void

    /// Longest text of a field, in bytes: enough for a long error text, and a bound for what a stranger can fill the
    /// disk with.
    public static let maximumTextBytes = 4_096

    /// Lines below this level are dropped before they are built.
    public let level: LogLevel
    private let format: LogFormat
    private let service: String
    private let fields: [String: LogValue]
    private let write: Write
    private let now: @Sendable () -> Int64

    /// Makes a logger.
    /// - Parameters:
    ///   - service: name of the executable, on every line.
    ///   - level: the least level that is written.
    ///   - format: how lines are written.
    ///   - write: where lines go; standard error by default.
    public init(
        service: String, level: LogLevel = .info, format: LogFormat = .json,
        write: @escaping Write = Logger.standardError
    ) {
        self.init(service: service, level: level, format: format, write: write, now: { Timestamp.now() })
    }

    init(
        service: String, level: LogLevel, format: LogFormat = .json, fields: [String: LogValue] = [:],
        write: @escaping Write, now: @escaping @Sendable () -> Int64
    ) {
        self.service = service
        self.level = level
        self.format = format
        self.fields = fields
        self.write = write
        self.now = now
    }

    /// A logger that writes nothing, for tests.
    public static var silent: Logger { Logger(service: "silent", level: .error, write: { _ in }) }

    /// A copy whose lines carry `more` as well; on equal keys the newer value wins.
    public func with(_ more: [String: LogValue]) -> Logger {
        let merged = fields.merging(more) { _, new in new }
        return Logger(service: service, level: level, format: format, fields: merged, write: write, now: now)
    }

    /// For developers. The fields are not evaluated when the level is off.
    public func debug(_ message: StaticString, _ fields: @autoclosure () -> [String: LogValue] = [:]) {
        log(.debug, message, fields)
    }

    /// The normal course of things.
    public func info(_ message: StaticString, _ fields: @autoclosure () -> [String: LogValue] = [:]) {
        log(.info, message, fields)
    }

    /// Off, but handled.
    public func warning(_ message: StaticString, _ fields: @autoclosure () -> [String: LogValue] = [:]) {
        log(.warning, message, fields)
    }

    /// Needs a person.
    public func error(_ message: StaticString, _ fields: @autoclosure () -> [String: LogValue] = [:]) {
        log(.error, message, fields)
    }

    /// An event of a purchase, by its agreed name.
    public func purchase(_ event: PurchaseEvent, _ fields: @autoclosure () -> [String: LogValue] = [:]) {
        guard level <= .info else { return }
        let all = self.fields.merging(fields()) { _, new in new }
        switch format {
        case .json: write(json(.info, event.rawValue, all))
        case .text: write(text(event, all))
        }
    }

    private func log(_ level: LogLevel, _ message: StaticString, _ more: () -> [String: LogValue]) {
        guard level >= self.level else { return }
        let all = fields.merging(more()) { _, new in new }
        switch format {
        case .json: write(json(level, message.description, all))
        case .text: write(text(level, message.description, all))
        }
    }

    /// Keys every line has. A field of one of these names is written as `field.<name>`.
    private static let reservedKeys: Set<String> = ["time", "level", "service", "message"]

    private func json(_ level: LogLevel, _ message: String, _ fields: [String: LogValue]) -> [UInt8] {
        var line = JSONLine()
        line.append("time", .string(Timestamp.format(millisecondsSince1970: now())), limit: .max)
        line.append("level", .string(level.rawValue), limit: .max)
        line.append("service", .string(service), limit: Self.maximumTextBytes)
        line.append("message", .string(message), limit: Self.maximumTextBytes)
        for (key, value) in fields.sorted(by: { $0.key < $1.key }) {
            let name = Self.reservedKeys.contains(key) ? "field.\(key)" : key
            line.append(name, value, limit: Self.maximumTextBytes)
        }
        return line.finish()
    }

    private func text(_ level: LogLevel, _ message: String, _ fields: [String: LogValue]) -> [UInt8] {
        var line = TextLine()
        let time = Timestamp.format(millisecondsSince1970: now())
        line.append(words: "\(time) \(level.rawValue) \(service): \(message)")
        for (key, value) in fields.sorted(by: { $0.key < $1.key }) {
            line.append(key, value, limit: Self.maximumTextBytes)
        }
        return line.finish()
    }

    private func text(_ event: PurchaseEvent, _ fields: [String: LogValue]) -> [UInt8] {
        var line = TextLine()
        line.append(words: "[IAP] \(event.rawValue)")
        var rest = fields
        for key in PurchaseEvent.order {
            guard let value = rest.removeValue(forKey: key) else { continue }
            line.append(TextLine.camelCase(key), value, limit: Self.maximumTextBytes)
        }
        line.append("timestamp", .string(Timestamp.format(millisecondsSince1970: now())), limit: .max)
        for (key, value) in rest.sorted(by: { $0.key < $1.key }) {
            line.append(TextLine.camelCase(key), value, limit: Self.maximumTextBytes)
        }
        return line.finish()
    }
}

extension Logger {
    /// Writes to standard error (file descriptor 2).
    public static let standardError: Write = { write($0, to: STDERR_FILENO) }

    /// Writes to standard output (file descriptor 1).
    public static let standardOutput: Write = { write($0, to: STDOUT_FILENO) }

    /// Writes with `write(2)`, unbuffered, so that a line survives the crash that follows it. Gives up on a reader that
    /// takes nothing for a second or is gone: losing a line is better than stopping the service.
    static func write(_ bytes: [UInt8], to descriptor: Int32) {
        var rest = bytes[...]
        var patience = 10
        while !rest.isEmpty {
            let written = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if written > 0 {
                rest = rest.dropFirst(written)
            } else if errno == EAGAIN, patience > 0 {
                patience -= 1
                var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                _ = poll(&waiting, 1, 100)
            } else if errno != EINTR {
                return
            }
        }
    }
}
