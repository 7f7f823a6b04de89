import AMQP
import Glibc
import Observability
import TestSupport

/// An AMQP client as an intruder with a service's password would bring along: it can ask for everything the protocol
/// has, and asks for many things at once, each on a channel of its own. Own threads only. Numbers: AMQP 0-9-1, XML
/// specification, and RabbitMQ's extensions.
final class BareClient {
    /// What the broker said to a deed.
    enum Verdict: Equatable {
        case done
        /// The channel was closed with this code.
        case closed(Int)

        /// 403: access refused. Any other code comes after the rights were looked at.
        var isRefused: Bool { self == .closed(403) }
    }

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// Deeds in flight at once: far below the broker's limit of 2,047 channels, enough that round trips do not count.
    private static let window = 128

    private let socket: Int32
    private var arrived: [UInt8] = []
    private var position = 0

    /// Logs in. Throws `Failure` with the broker's words if it does not let us.
    init(_ endpoint: AMQPEndpoint) throws {
        guard let socket = Socket.connect(host: endpoint.host, port: endpoint.port) else {
            throw Failure(description: "no connection")
        }
        self.socket = socket
        // A test never waits longer for a frame.
        var patience = timeval(tv_sec: 20, tv_usec: 0)
        setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        try send(Array("AMQP".utf8) + [0, 0, 9, 1])
        _ = try expect(10, 10)
        let plain = [0] + Array(endpoint.user.utf8) + [0] + Array(endpoint.password.reveal().utf8)
        try send(
            Wire.method(0, 10, 11, Wire.table([:]) + Wire.short("PLAIN") + Wire.long(plain) + Wire.short("en_US")))
        let tune = try expect(10, 30)
        // The broker's limits, no heartbeats.
        try send(Wire.method(0, 10, 31, Array(tune.prefix(6)) + [0, 0]))
        try send(Wire.method(0, 10, 40, Wire.short(endpoint.virtualHost) + Wire.short("") + [0]))
        _ = try expect(10, 41)
    }

    deinit { close(socket) }

    /// Attempts all deeds, in no particular order, and answers for each what became of it.
    func attempt(_ deeds: [Deed]) throws -> [Verdict] {
        var verdicts: [Verdict] = []
        for start in stride(from: 0, to: deeds.count, by: Self.window) {
            verdicts += try attemptAtOnce(Array(deeds[start..<min(start + Self.window, deeds.count)]))
        }
        return verdicts
    }

    private func attemptAtOnce(_ deeds: [Deed]) throws -> [Verdict] {
        var verdicts = [Verdict?](repeating: nil, count: deeds.count)
        let bytes = deeds.enumerated().flatMap { index, deed in
            Wire.method(index + 1, 20, 10, Wire.short("")) + deed.frames(channel: index + 1)
        }
        try send(bytes)
        while verdicts.contains(nil) {
            let frame = try nextFrame()
            guard frame.kind == 1, (1...deeds.count).contains(frame.channel), verdicts[frame.channel - 1] == nil else {
                continue
            }
            let number = frame.number
            if number == Wire.number(20, 40) {
                verdicts[frame.channel - 1] = .closed(frame.code)
                try send(Wire.method(frame.channel, 20, 41, []))
            } else if deeds[frame.channel - 1].answers.contains(number) {
                verdicts[frame.channel - 1] = .done
            }
        }
        var open = Set(verdicts.indices.filter { verdicts[$0] == .done }.map { $0 + 1 })
        try send(open.flatMap { Wire.method($0, 20, 40, [0, 200] + Wire.short("") + [0, 0, 0, 0]) })
        while !open.isEmpty {
            let frame = try nextFrame()
            if frame.kind == 1, frame.number == Wire.number(20, 41) { open.remove(frame.channel) }
        }
        return verdicts.compactMap { $0 }
    }

    // MARK: - Frames

    private struct Frame {
        let kind: UInt8
        let channel: Int
        let payload: [UInt8]
        var number: UInt32 {
            payload.count < 4 ? 0 : payload.prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
        }
        /// The reply code of a close.
        var code: Int { payload.count < 6 ? 0 : Int(payload[4]) << 8 | Int(payload[5]) }
    }

    private func send(_ bytes: [UInt8]) throws {
        guard Socket.sendAll(bytes, to: socket) else { throw Failure(description: "the broker hung up") }
    }

    /// Waits for a method of the connection; answers its arguments.
    private func expect(_ classID: Int, _ methodID: Int) throws -> [UInt8] {
        while true {
            let frame = try nextFrame()
            if frame.kind == 1, frame.number == Wire.number(classID, methodID) {
                return Array(frame.payload.dropFirst(4))
            }
        }
    }

    private func nextFrame() throws -> Frame {
        let head = try take(7)
        let size = head[3...].reduce(0) { $0 << 8 | Int($1) }
        let payload = try take(size + 1).dropLast()
        let frame = Frame(kind: head[0], channel: Int(head[1]) << 8 | Int(head[2]), payload: Array(payload))
        guard frame.kind != 1 || frame.number != Wire.number(10, 50) else {
            let text = String(decoding: frame.payload.dropFirst(7).prefix(Int(frame.payload[6])), as: UTF8.self)
            throw Failure(description: "the broker closed the connection: \(frame.code) \(text)")
        }
        return frame
    }

    private func take(_ count: Int) throws -> [UInt8] {
        while arrived.count - position < count {
            var chunk = [UInt8](repeating: 0, count: 64 << 10)
            let received = recv(socket, &chunk, chunk.count, 0)
            guard received > 0 else { throw Failure(description: "the broker hung up or is silent") }
            arrived.removeFirst(position)
            position = 0
            arrived += chunk[..<received]
        }
        defer { position += count }
        return Array(arrived[position..<position + count])
    }
}
