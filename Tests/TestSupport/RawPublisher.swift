public import AMQP
import Glibc
import Observability

/// Publishes with AMQP frames made by hand: properties and headers that no library would send. For own threads only.
///
/// Numbers of classes and methods: AMQP 0-9-1, section 1.
public final class RawPublisher {
    /// The broker said something else than expected.
    public struct Failure: Error {
        /// Which method came, or what was awaited.
        public let what: String
    }

    private let socket: Int32
    private var arrived: [UInt8] = []

    /// Logs in and opens a channel with confirms.
    public init(_ endpoint: AMQPEndpoint) throws {
        guard let socket = Socket.connect(host: endpoint.host, port: endpoint.port) else {
            throw Failure(what: "connect")
        }
        self.socket = socket
        // A test never waits longer than this for a frame.
        var patience = timeval(tv_sec: 10, tv_usec: 0)
        setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        try send(Array("AMQP".utf8) + [0, 0, 9, 1])
        _ = try expect(10, 10)
        let plain = [0] + Array(endpoint.user.utf8) + [0] + Array(endpoint.password.reveal().utf8)
        try method(0, 10, 11, Self.long(0) + Self.short("PLAIN") + Self.long(plain) + Self.short("en_US"))
        let tune = try expect(10, 30)
        // The broker's own limits, no heartbeats.
        try method(0, 10, 31, Array(tune.prefix(6)) + [0, 0])
        try method(0, 10, 40, Self.short(endpoint.virtualHost) + Self.short("") + [0])
        _ = try expect(10, 41)
        try method(1, 20, 10, Self.short(""))
        _ = try expect(20, 11)
        try method(1, 85, 10, [0])
        _ = try expect(85, 11)
    }

    deinit { close(socket) }

    /// Publishes and waits for the confirm. `properties` are the bytes after the flags of the content header.
    public func publish(exchange: String, routingKey: String, flags: UInt16, properties: [UInt8], body: [UInt8]) throws
    {
        try method(1, 60, 40, [0, 0] + Self.short(exchange) + Self.short(routingKey) + [0])
        let size = UInt64(body.count)
        let header: [UInt8] =
            [0, 60, 0, 0] + (0..<8).map { UInt8(truncatingIfNeeded: size >> (56 - 8 * UInt64($0))) }
            + [UInt8(flags >> 8), UInt8(flags & 0xFF)] + properties
        try frame(2, 1, header)
        if !body.isEmpty { try frame(3, 1, body) }
        _ = try expect(60, 80)
    }

    /// A text of at most 255 bytes with its length.
    public static func short(_ bytes: [UInt8]) -> [UInt8] { [UInt8(truncatingIfNeeded: bytes.count)] + bytes }
    /// A text of at most 255 bytes with its length.
    public static func short(_ text: String) -> [UInt8] { short(Array(text.utf8)) }
    /// Bytes with a length of 32 bits.
    public static func long(_ bytes: [UInt8]) -> [UInt8] { long(bytes.count) + bytes }
    /// A number of 32 bits.
    public static func long(_ number: Int) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * $0)) }
    }

    private func method(_ channel: UInt8, _ family: UInt8, _ number: UInt8, _ arguments: [UInt8]) throws {
        try frame(1, channel, [0, family, 0, number] + arguments)
    }

    private func frame(_ kind: UInt8, _ channel: UInt8, _ payload: [UInt8]) throws {
        try send([kind, 0, channel] + Self.long(payload) + [0xCE])
    }

    private func send(_ bytes: [UInt8]) throws {
        guard Socket.sendAll(bytes, to: socket) else { throw Failure(what: "the broker closed the connection") }
    }

    /// The arguments of the next method, which must be this one.
    private func expect(_ family: UInt8, _ number: UInt8) throws -> [UInt8] {
        let head = try take(7)
        let size = head[3...6].reduce(0) { $0 << 8 | Int($1) }
        let payload = try take(size + 1).dropLast()
        guard payload.count >= 4, payload[1] == family, payload[3] == number else {
            throw Failure(what: "\(family).\(number) was awaited, \(Array(payload.prefix(60))) came")
        }
        return Array(payload.dropFirst(4))
    }

    private func take(_ count: Int) throws -> [UInt8] {
        var piece = [UInt8](repeating: 0, count: 65_536)
        while arrived.count < count {
            let received = recv(socket, &piece, piece.count, 0)
            guard received > 0 else { throw Failure(what: "the broker closed the connection or is silent") }
            arrived += piece[..<received]
        }
        defer { arrived.removeFirst(count) }
        return Array(arrived[..<count])
    }
}
