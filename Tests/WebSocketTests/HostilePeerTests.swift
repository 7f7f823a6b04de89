import HTTPServer
import TestSupport
import Testing
import WebSocket

/// What hostile peers can do: nothing to others, and little for themselves.
@Suite struct HostilePeerTests {
    struct Attack: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let bytes: [UInt8]
        let code: WebSocketCloseCode
        init(_ name: String, _ code: WebSocketCloseCode, _ bytes: [UInt8]) {
            (testDescription, self.code, self.bytes) = (name, code, bytes)
        }
    }

    static let attacks = [
        Attack("not masked", .protocolError, [0x82, 1, 7]),
        Attack("reserved bits", .protocolError, [0xC2, 0x81, 0, 0, 0, 0, 7]),
        Attack("an unknown kind", .protocolError, SocketClient.frame(3, [1])),
        Attack("an unknown control frame", .protocolError, SocketClient.frame(11, [1])),
        Attack("text", .unsupportedData, SocketClient.frame(1, [65])),
        Attack("a ping in pieces", .protocolError, SocketClient.frame(9, [1], isFinal: false)),
        Attack("a long ping", .protocolError, SocketClient.frame(9, [UInt8](repeating: 1, count: 126))),
        Attack("a fragment without beginning", .protocolError, SocketClient.frame(0, [1])),
        Attack(
            "a beginning in the middle", .protocolError,
            SocketClient.frame(2, [1], isFinal: false) + SocketClient.frame(2, [1])),
        Attack("a length of 2 bytes for 1", .protocolError, [0x82, 0xFE, 0, 5, 0, 0, 0, 0, 1, 2, 3, 4, 5]),
        Attack(
            "a length with the highest bit", .protocolError, [0x82, 0xFF, 0x80, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]),
        Attack("a huge length", .messageTooBig, SocketClient.frame(2, [1], announced: 1 << 40)),
        Attack("one byte too long", .messageTooBig, SocketClient.frame(2, [1], announced: 1_500_001)),
        Attack(
            "too long in pieces", .messageTooBig,
            SocketClient.frame(2, [UInt8](repeating: 1, count: 1_500_000), isFinal: false)
                + SocketClient.frame(0, [1])),
        Attack(
            "a thousand empty fragments", .policyViolation,
            SocketClient.frame(2, [1], isFinal: false)
                + (0..<1_000).flatMap { _ in SocketClient.frame(0, [], isFinal: false) }),
        Attack("a close of one byte", .protocolError, SocketClient.frame(8, [3])),
        Attack("a close with a code nobody may send", .protocolError, SocketClient.frame(8, [0x03, 0xED])),
        Attack("HTTP", .protocolError, Array("GET / HTTP/1.1\r\n\r\n".utf8)),
    ]

    @Test(arguments: attacks) func `malformed peers are told why, and nobody else notices`(attack: Attack) async throws
    {
        let server = try SocketServer()
        try await onThread {
            let neighbour = try SocketClient(port: server.port)
            let client = try SocketClient(port: server.port)
            client.raw.send(attack.bytes)
            #expect(try client.closeCode() == attack.code.rawValue)
            neighbour.send(2, [1])
            #expect(try neighbour.receive()?.payload == [1])
            client.raw.disconnect()
            try eventually { server.hub.count == 1 }
        }
    }

    @Test func `a peer that asks and never reads is dropped`() async throws {
        var limits = WebSocketLimits()
        limits.writeDeadline = .milliseconds(500)
        let server = try SocketServer(limits)
        try await onThread {
            let client = try SocketClient(port: server.port, receiveBuffer: 4_096)
            let ping = (0..<1_000).flatMap { _ in SocketClient.frame(9, [UInt8](repeating: 1, count: 125)) }
            // Until the socket's buffers, and then the peer's own, are full.
            var rounds = 0
            while rounds < 1_000, client.raw.send(ping) { rounds += 1 }
            #expect(rounds < 1_000)
            try eventually { server.hub.count == 0 }
        }
    }

    @Test func `a silent peer is asked, and dropped if it does not answer`() async throws {
        var limits = WebSocketLimits()
        (limits.pingAfter, limits.pongWithin) = (.milliseconds(300), .milliseconds(300))
        let server = try SocketServer(limits)
        try await onThread {
            let silent = try SocketClient(port: server.port)
            #expect(try silent.receive()?.opcode == 9)
            #expect(try silent.receive() == nil)
            let lively = try SocketClient(port: server.port)
            for _ in 0..<3 {
                #expect(try lively.receive()?.opcode == 9)
                lively.send(10, [])
            }
            lively.send(2, [1])
            #expect(try lively.receive()?.payload == [1])
        }
    }

    @Test func `single bytes keep nobody alive, and a message has its time`() async throws {
        var limits = WebSocketLimits()
        (limits.pingAfter, limits.pongWithin) = (.milliseconds(200), .milliseconds(400))
        limits.messageDeadline = .milliseconds(600)
        let server = try SocketServer(limits)
        try await onThread {
            let head = try SocketClient(port: server.port)
            let body = try SocketClient(port: server.port)
            let frame = SocketClient.frame(2, [UInt8](repeating: 1, count: 10_000))
            body.raw.send(Array(frame.prefix(20)))
            var place = 0
            // A byte every few milliseconds.
            try eventually(every: .milliseconds(20)) {
                place += 1
                head.raw.send(Array(SocketClient.frame(2, [1], announced: 70_000).prefix(place).suffix(1)))
                body.raw.send([1])
                return server.hub.count == 0
            }
        }
    }

    @Test func `half-open peers and vanished ones free their places`() async throws {
        let server = try SocketServer()
        try await onThread {
            let half = try SocketClient(port: server.port)
            half.raw.finishSending()
            #expect(try half.raw.isClosed())
            let vanished = try SocketClient(port: server.port)
            vanished.raw.disconnect()
            let inside = try SocketClient(port: server.port)
            inside.raw.send(Array(SocketClient.frame(2, [1, 2, 3]).prefix(8)))
            inside.raw.disconnect()
            try eventually { server.hub.count == 0 }
        }
    }

    @Test func `one address has only so many sockets, and all together too`() async throws {
        var limits = WebSocketLimits()
        (limits.maximumConnections, limits.maximumConnectionsPerAddress) = (3, 2)
        let server = try SocketServer(limits)
        try await onThread {
            let clients = try (0..<2).map { _ in try SocketClient(port: server.port) }
            let raw = try RawClient(port: server.port)
            raw.send(SocketClient.handshake())
            #expect(try raw.answer()?.status == 429)
            let other = try SocketClient(port: server.port, from: "127.0.0.2")
            let third = try RawClient(port: server.port, from: "127.0.0.3")
            third.send(SocketClient.handshake())
            #expect(try third.answer()?.status == 503)
            clients[0].raw.disconnect()
            try eventually { server.hub.count == 2 }
            raw.send(SocketClient.handshake())
            #expect(try raw.answer()?.status == 101)
            other.send(2, [4])
            #expect(try other.receive()?.payload == [4])
        }
    }

    @Test func `unfinished messages of all share one budget`() async throws {
        var limits = WebSocketLimits()
        (limits.maximumBufferedBytes, limits.maximumQueuedBytes) = (1 << 20, 1 << 20)
        let server = try SocketServer(limits)
        try await onThread {
            let piece = [UInt8](repeating: 1, count: 400_000)
            let clients = try (0..<3).map { _ in try SocketClient(port: server.port) }
            for client in clients { client.send(2, piece, isFinal: false) }
            // Exactly one of them is told to come again; the others go on.
            var refused = 0
            for client in clients {
                client.send(0, [2])
                let answer = try client.receive()
                if answer?.opcode == 8 { refused += 1 } else { #expect(answer?.payload.count == 400_001) }
            }
            #expect(refused == 1)
            let again = try SocketClient(port: server.port)
            again.send(2, piece)
            #expect(try again.receive()?.payload.count == 400_000)
        }
    }
}
