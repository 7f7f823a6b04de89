/// There was no handshake, or no descriptor.
public struct NoSocket: Error {
    /// Nothing to say.
    public init() {}
}

/// A client that sends frames as no library would. Blocks: for `onThread` only.
public struct SocketClient {
    /// The connection.
    public let raw: RawClient

    /// Connects and shakes hands at `path`, with more header fields if given; `early` follows the request at once.
    public init(
        port: UInt16, path: String = "/ws", fields: [String] = [], early: [UInt8] = [], from source: String? = nil,
        receiveBuffer: Int32? = nil
    ) throws {
        raw = try RawClient(port: port, from: source, receiveBuffer: receiveBuffer)
        raw.send(Array(Self.handshake(Self.upgrade + fields, path: path).utf8) + early)
        guard let answer = try raw.answer(), answer.status == 101 else { throw NoSocket() }
    }

    /// What makes a request a handshake.
    public static let upgrade = [
        "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
    ]

    /// The text of a handshake; `fields` may have a Host of their own.
    public static func handshake(
        _ fields: [String] = SocketClient.upgrade, method: String = "GET", path: String = "/ws"
    ) -> String {
        let host = fields.contains { $0.hasPrefix("Host:") } ? "" : "Host: localhost\r\n"
        return "\(method) \(path) HTTP/1.1\r\n" + host + fields.map { "\($0)\r\n" }.joined() + "\r\n"
    }

    /// A masked frame.
    public static func frame(_ opcode: UInt8, _ payload: [UInt8], isFinal: Bool = true, announced: Int? = nil)
        -> [UInt8]
    {
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

    /// Sends a frame; false if the server is gone.
    @discardableResult
    public func send(_ opcode: UInt8, _ payload: [UInt8], isFinal: Bool = true) -> Bool {
        raw.send(Self.frame(opcode, payload, isFinal: isFinal))
    }

    /// The next frame; nil if the server closes first.
    public func receive() throws -> (opcode: UInt8, payload: [UInt8])? {
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
    public func closeCode() throws -> UInt16? {
        while let frame = try receive() {
            if frame.opcode == 8, frame.payload.count >= 2 {
                return UInt16(frame.payload[0]) << 8 | UInt16(frame.payload[1])
            }
        }
        return nil
    }
}
