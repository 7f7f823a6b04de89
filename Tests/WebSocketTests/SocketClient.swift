import Glibc
import HTTPServer
import TestSupport
import WebSocket

/// There was no handshake, or no descriptor.
struct NoSocket: Error {}

/// A client that sends frames as no library would. Blocks: for `onThread` only.
struct SocketClient {
    let raw: RawClient

    /// Connects and shakes hands at `/ws`.
    init(port: UInt16, early: [UInt8] = [], from source: String? = nil, receiveBuffer: Int32? = nil) throws {
        raw = try RawClient(port: port, from: source, receiveBuffer: receiveBuffer)
        raw.send(Array(Self.handshake().utf8) + early)
        guard let answer = try raw.answer(), answer.status == 101 else { throw NoSocket() }
    }

    static func handshake(
        _ fields: [String] = [
            "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13",
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
        ], method: String = "GET"
    ) -> String {
        "\(method) /ws HTTP/1.1\r\nHost: localhost\r\n" + fields.map { "\($0)\r\n" }.joined() + "\r\n"
    }

    /// A masked frame.
    static func frame(_ opcode: UInt8, _ payload: [UInt8], isFinal: Bool = true, announced: Int? = nil) -> [UInt8] {
        let length = announced ?? payload.count
        var bytes: [UInt8] = [(isFinal ? 0x80 : 0) | opcode]
        switch length {
        case ..<126: bytes.append(0x80 | UInt8(length))
        case ..<65_536: bytes += [0x80 | 126, UInt8(length >> 8), UInt8(length & 0xFF)]
        default: bytes += [0x80 | 127] + (0..<8).map { UInt8(truncatingIfNeeded: length >> (56 - 8 * $0)) }
        }
        let mask: [UInt8] = [0x11, 0x22, 0x33, 0x44]
        return bytes + mask + payload.enumerated().map { $1 ^ mask[$0 & 3] }
    }

    @discardableResult
    func send(_ opcode: UInt8, _ payload: [UInt8], isFinal: Bool = true) -> Bool {
        raw.send(Self.frame(opcode, payload, isFinal: isFinal))
    }

    /// The next frame; nil if the server closes first.
    func receive() throws -> (opcode: UInt8, payload: [UInt8])? {
        guard let head = try raw.take(2) else { return nil }
        var length = Int(head[1] & 0x7F)
        if length >= 126 {
            guard let more = try raw.take(length == 126 ? 2 : 8) else { return nil }
            length = more.reduce(0) { $0 << 8 | Int($1) }
        }
        guard let payload = try raw.take(length) else { return nil }
        return (head[0] & 0x0F, payload)
    }

    /// The code with which the server closes; pings before it are passed over.
    func closeCode() throws -> UInt16? {
        while let frame = try receive() {
            if frame.opcode == 8, frame.payload.count >= 2 {
                return UInt16(frame.payload[0]) << 8 | UInt16(frame.payload[1])
            }
        }
        return nil
    }
}

/// A server that echoes messages at `/ws`; a message that begins with `!` is answered by the code 1011.
final class SocketServer: Sendable {
    let server: HTTPServer
    let hub: WebSocketHub

    init(_ limits: WebSocketLimits = WebSocketLimits(), life: Duration? = nil, connections: Int = 1_024) throws {
        guard let hub = WebSocketHub.start(limits) else { throw NoSocket() }
        self.hub = hub
        var configuration = HTTPServer.Configuration()
        configuration.maximumConnections = connections
        configuration.maximumConnectionsPerAddress = 0
        server = try HTTPServer.start(configuration, bodyLimit: { _, _ in 1_024 }) { request in
            guard request.path == "/ws" else { return .text(200, "ok") }
            do throws(WebSocketRefusal) {
                let expiry = life.map { ContinuousClock.now + $0 }
                return try hub.response(to: request, expiresAt: expiry) { message in
                    message.first == UInt8(ascii: "!") ? .close(.internalError, reason: "told to") : .message(message)
                }
            } catch {
                return .text(error.status, error.code)
            }
        }
    }

    deinit {
        hub.stop(grace: .zero)
        server.stop(grace: .zero)
    }

    var port: UInt16 { server.port }
}
