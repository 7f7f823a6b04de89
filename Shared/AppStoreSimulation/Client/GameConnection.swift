public import GameProtocol
import Glibc
import JOSE

/// Why a question over a WebSocket got no answer.
public enum GameConnectionError: Error, Sendable, Equatable {
    /// The server could not be reached, or the connection broke: the question may have been answered all the same.
    case broken(String)
    /// The handshake was answered by another status than 101.
    case refused(status: Int)
    /// The server closed the socket.
    case closed(code: UInt16, reason: String)
    /// What came is no message of the protocol.
    case unreadable(GameMessageError)

    /// A stable dotted name.
    public var code: String {
        switch self {
        case .broken: "game.broken"
        case .refused: "game.refused"
        case .closed: "game.closed"
        case .unreadable(let error): error.code
        }
    }

    /// Whether the same question can be answered by another connection.
    public var isRetryable: Bool {
        switch self {
        case .broken: true
        case .refused(let status): status == 429 || status == 503
        // The server stops, failed, or has too much to do.
        case .closed(let code, _): [1_001, 1_011, 1_013].contains(code)
        case .unreadable: false
        }
    }
}

/// A game's WebSocket (RFC 6455), as simple as a client can be: one question, one answer. Blocking, for one thread.
public final class GameConnection {
    /// Longer than the server's patience of 5 s, so that its answer is heard.
    private static let patience = 15
    private let socket: Int32

    /// Connects to the gateway at `base`, such as `http://game.localhost:8080`, and shakes hands.
    public init(base: String, token: String) throws(GameConnectionError) {
        let (name, port) = try Self.address(of: base)
        socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var limit = timeval(tv_sec: Self.patience, tv_usec: 0)
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            setsockopt(socket, SOL_SOCKET, option, &limit, socklen_t(MemoryLayout<timeval>.size))
        }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        // Names that end in .localhost are this machine (RFC 6761 §6.3); other names are no matter of tests.
        inet_pton(AF_INET, name.hasSuffix("localhost") ? "127.0.0.1" : name, &address.sin_addr)
        let status = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard status == 0 else { throw .broken("connect: \(errno)") }
        try shakeHands(name, port, token)
    }

    deinit { close(socket) }

    /// Sends a question and waits for its answer.
    public func ask(_ question: GameMessage) throws(GameConnectionError) -> GameMessage {
        try send(question)
        while true {
            let (opcode, payload) = try receive()
            switch opcode {
            case 2:
                do { return try GameMessage(payload) } catch { throw .unreadable(error) }
            case 8:
                let code = payload.count >= 2 ? UInt16(payload[0]) << 8 | UInt16(payload[1]) : 1_005
                throw .closed(code: code, reason: String(decoding: payload.dropFirst(2), as: UTF8.self))
            case 9: try write(Self.frame(10, payload))
            default: break
            }
        }
    }

    /// Sends a question and does not wait: what a game does that dies at this moment.
    public func send(_ question: GameMessage) throws(GameConnectionError) {
        try write(Self.frame(2, question.encoded()))
    }

    private func shakeHands(_ name: String, _ port: UInt16, _ token: String) throws(GameConnectionError) {
        let key = Base64.encode((0..<16).map { _ in UInt8.random(in: 0...255) })
        let request = [
            "GET /iap/ws HTTP/1.1", "Host: \(name):\(port)", "Upgrade: websocket", "Connection: Upgrade",
            "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: \(key)", "Authorization: Bearer \(token)",
        ]
        try write(Array((request.joined(separator: "\r\n") + "\r\n\r\n").utf8))
        var head: [UInt8] = []
        while !head.suffix(4).elementsEqual("\r\n\r\n".utf8) {
            guard head.count < 16_384 else { throw .broken("the head of the answer has no end") }
            head += try read(1)
        }
        let words = String(decoding: head, as: UTF8.self).split(separator: " ", maxSplits: 2)
        let status = words.count > 1 ? Int(words[1]) ?? 0 : 0
        guard status == 101 else { throw .refused(status: status) }
    }

    private func receive() throws(GameConnectionError) -> (opcode: UInt8, payload: [UInt8]) {
        let head = try read(2)
        var length = Int(head[1] & 0x7F)
        if length >= 126 { length = try read(length == 126 ? 2 : 8).reduce(0) { $0 << 8 | Int($1) } }
        // No answer is as long; what announces more is no server of ours.
        guard (0...1 << 20).contains(length) else { throw .broken("an answer of \(length) bytes") }
        return (head[0] & 0x0F, try read(length))
    }

    /// A masked frame, as every client must send (RFC 6455 §5.3).
    private static func frame(_ opcode: UInt8, _ payload: [UInt8]) -> [UInt8] {
        var bytes = [0x80 | opcode]
        switch payload.count {
        case ..<126: bytes.append(0x80 | UInt8(payload.count))
        case ..<65_536: bytes += [0x80 | 126, UInt8(payload.count >> 8), UInt8(payload.count & 0xFF)]
        default:
            bytes += [0x80 | 127] + (0..<8).map { UInt8(truncatingIfNeeded: payload.count >> (56 - 8 * $0)) }
        }
        let mask = (0..<4).map { _ in UInt8.random(in: 0...255) }
        return bytes + mask + payload.enumerated().map { $1 ^ mask[$0 & 3] }
    }

    private func write(_ bytes: [UInt8]) throws(GameConnectionError) {
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBufferPointer { buffer in
                buffer.baseAddress.map { Glibc.send(socket, $0 + sent, bytes.count - sent, Int32(MSG_NOSIGNAL)) } ?? -1
            }
            guard count > 0 else { throw .broken("send: \(errno)") }
            sent += count
        }
    }

    private func read(_ count: Int) throws(GameConnectionError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var filled = 0
        while filled < count {
            let got = bytes.withUnsafeMutableBufferPointer { buffer in
                buffer.baseAddress.map { recv(socket, $0 + filled, count - filled, 0) } ?? -1
            }
            guard got > 0 else { throw .broken(got == 0 ? "the server closed the connection" : "recv: \(errno)") }
            filled += got
        }
        return bytes
    }

    private static func address(of base: String) throws(GameConnectionError) -> (name: String, port: UInt16) {
        let scheme = "http://"
        let parts = base.dropFirst(scheme.count).split(separator: ":")
        guard base.hasPrefix(scheme), parts.count == 2, let port = UInt16(parts[1]) else {
            throw .broken("\(base) is not http://<name>:<port>")
        }
        return (String(parts[0]), port)
    }
}
