import HTTPServer
import TestSupport
import Testing
import WebSocket

/// What honest peers see.
@Suite struct WebSocketTests {
    @Test func `a message comes back, whole, in fragments, and along with the handshake (C-029)`() async throws {
        let server = try SocketServer()
        try await onThread {
            let client = try SocketClient(port: server.port, early: SocketClient.frame(2, [1, 2, 3]))
            #expect(try client.receive()?.payload == [1, 2, 3])
            let large = [UInt8](repeating: 7, count: 100_000)
            client.send(2, large)
            #expect(try client.receive()?.payload == large)
            client.send(2, [1], isFinal: false)
            client.send(9, [5])
            client.send(0, [2], isFinal: false)
            client.send(0, [3])
            let pong = try client.receive()
            #expect(pong?.opcode == 10)
            #expect(pong?.payload == [5])
            #expect(try client.receive()?.payload == [1, 2, 3])
            client.send(2, [])
            #expect(try client.receive()?.payload == [])
        }
    }

    @Test func `answers come in the order of the questions (C-029)`() async throws {
        let server = try SocketServer()
        try await onThread {
            let client = try SocketClient(port: server.port)
            client.raw.send((0..<200).flatMap { SocketClient.frame(2, [0, UInt8($0)]) })
            for number in 0..<200 { #expect(try client.receive()?.payload == [0, UInt8(number)]) }
        }
    }

    @Test func `the proof of the handshake is the one of the RFC`() async throws {
        let server = try SocketServer()
        try await onThread {
            let raw = try RawClient(port: server.port)
            raw.send(SocketClient.handshake())
            let answer = try #require(try raw.answer())
            #expect(answer.status == 101)
            #expect(answer.has("Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo="))
            #expect(answer.has("Upgrade: websocket"))
            #expect(answer.has("Connection: Upgrade"))
        }
    }

    @Test(arguments: [
        (["Connection: Upgrade"], "GET", 426), (["Upgrade: websocket", "Connection: keep-alive"], "GET", 426),
        (
            [
                "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 8",
                "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
            ], "GET", 426
        ),
        (["Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13"], "GET", 400),
        (
            ["Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: c2hvcnQ="],
            "GET", 400
        ),
        (
            [
                "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13",
                "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "Content-Length: 0",
            ], "POST", 400
        ),
    ]) func `what asks for no WebSocket gets none, and the connection goes on`(
        fields: [String], method: String, status: Int
    ) async throws {
        let server = try SocketServer()
        try await onThread {
            let raw = try RawClient(port: server.port)
            raw.send(SocketClient.handshake(fields, method: method))
            #expect(try raw.answer()?.status == status)
            raw.send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
            #expect(try raw.answer()?.status == 200)
            #expect(server.hub.count == 0)
        }
    }

    @Test func `closing is answered with the same code, and frees the place`() async throws {
        let server = try SocketServer()
        try await onThread {
            let client = try SocketClient(port: server.port)
            client.send(8, [0x0F, 0xA0])
            #expect(try client.closeCode() == 4_000)
            #expect(try client.raw.isClosed())
            try eventually { server.hub.count == 0 }
        }
    }

    @Test func `a handler may close, and a stop says good-bye to everybody`() async throws {
        let server = try SocketServer()
        try await onThread {
            let told = try SocketClient(port: server.port)
            told.send(2, [UInt8(ascii: "!")])
            #expect(try told.closeCode() == WebSocketCloseCode.internalError.rawValue)
            let idle = try SocketClient(port: server.port)
            server.hub.stop(grace: .seconds(5))
            #expect(try idle.closeCode() == WebSocketCloseCode.goingAway.rawValue)
            // A late one is closed, not left hanging.
            let late = try SocketClient(port: server.port)
            #expect(try late.receive() == nil)
        }
    }

    @Test func `a socket lives no longer than its login`() async throws {
        let server = try SocketServer(life: .milliseconds(300))
        try await onThread {
            let client = try SocketClient(port: server.port)
            #expect(try client.closeCode() == WebSocketCloseCode.loginExpired.rawValue)
        }
    }

    @Test func `the server stops while sockets are open`() async throws {
        let server = try SocketServer()
        try await onThread {
            let client = try SocketClient(port: server.port)
            server.server.stop(grace: .zero)
            client.send(2, [9])
            #expect(try client.receive()?.payload == [9], "sockets are the hub's, not the server's")
        }
    }
}
