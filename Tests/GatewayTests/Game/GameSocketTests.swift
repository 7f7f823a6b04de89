import GameProtocol
import HTTPServer
import JSON
import Messages
import Pipeline
import Reloading
import Runtime
import TestSupport
import Testing
import WebSocket

@testable import Gateway

/// Document C's messages over a real WebSocket.
@Suite struct GameSocketTests {
    /// A gateway's door behind a real server, with sockets.
    private final class Hall: Sendable {
        let door: TestDoor
        let hub: WebSocketHub
        let server: HTTPServer

        init(
            asker: (any Asker)? = nil, users: RateLimiter? = nil, addresses: AddressLimits = AddressLimits(),
            receipts: ReceiptShare = ReceiptShare(most: 8), _ limits: WebSocketLimits = WebSocketLimits(),
            _ script: @escaping ScriptedAsker.Script = GameSamples.everything
        ) throws {
            hub = try #require(WebSocketHub.start(limits))
            door = try TestDoor(
                asker: asker, users: users, addresses: addresses, sockets: hub, receipts: receipts, script)
            var configuration = HTTPServer.Configuration()
            configuration.errorResponse = door.door.refuse
            server = try HTTPServer.start(
                configuration, bodyLimit: { _, path in Surfaces.bodyLimit(path: path) }, handler: door.door.answer)
        }

        deinit {
            hub.stop(grace: .zero)
            server.stop(grace: .zero)
        }

        func connect(lifetime: Int64 = 600, app: String = "game") throws -> SocketClient {
            let token = try TestTokens.make(app, lifetime: lifetime)
            return try SocketClient(
                port: server.port, path: "/iap/ws",
                fields: ["Host: game.example", "Authorization: Bearer \(token)"])
        }
    }

    private static let verify = GameMessage.verify(VerifyQuestion(receipt: "MIIT", productID: GameSamples.product))
    private static let history = GameMessage.history(HistoryQuestion())

    private static func ask(_ client: SocketClient, _ message: GameMessage) throws -> GameMessage {
        client.send(2, message.encoded())
        let frame = try #require(try client.receive())
        #expect(frame.opcode == 2)
        return try GameMessage(frame.payload)
    }

    private static func verified(_ client: SocketClient) throws -> VerifyAnswer {
        guard case .verified(let answer) = try ask(client, verify) else {
            Issue.record("another answer")
            return VerifyAnswer(code: -1)
        }
        return answer
    }

    private static func page(_ client: SocketClient, _ question: HistoryQuestion) throws -> HistoryAnswer {
        guard case .records(let answer) = try ask(client, .history(question)) else {
            Issue.record("another answer")
            return HistoryAnswer(code: -1)
        }
        return answer
    }

    @Test func `both questions are answered over one socket (C-024 C-025 C-026 C-027 C-029)`() async throws {
        let hall = try Hall()
        try await onThread {
            let client = try hall.connect()
            #expect(
                try Self.verified(client)
                    == VerifyAnswer(
                        code: 0, message: "granted", rewardID: 2_001, productID: GameSamples.product, finish: true,
                        amount: 120,
                        balance: 180, transactionIDs: ["1", "2"]))
            let page = try Self.page(client, HistoryQuestion(limit: 2))
            #expect(page.code == 0 && page.records.map(\.transactionID) == ["504319184420155588", "7"])
            #expect(page.records.first?.refundedAt == 1_780_000_100 && page.records.last?.refundedAt == 0)
            _ = try Self.page(client, HistoryQuestion(cursor: page.nextCursor))
        }
        let asked = hall.door.asker.asked
        #expect((asked.first as? PurchaseSubmitted)?.userID == UserID("user-1"))
        #expect(asked.compactMap { ($0 as? HistoryRequested)?.before } == [GameSamples.place])
        // Every message is a request of its own, with a line and an id of its own.
        let lines = try hall.door.log.entries("request").filter { $0["http.method"] == "WS" }
        #expect(
            lines.compactMap { $0["http.route"]?.stringValue } == [
                "/iap/ws C2S_IAPVerify", "/iap/ws C2S_IAPHistory", "/iap/ws C2S_IAPHistory",
            ])
        #expect(Set(lines.compactMap { $0["correlation.id"]?.stringValue }).count == 3)
        #expect(!hall.door.log.lines.joined().contains("MIIT"), "C-115")
    }

    @Test
    func `a refusal has its number and says whether to finish; a failed history is no empty one`()
        async throws
    {
        let hall = try Hall { question, _ in
            if question is HistoryRequested { throw RequestError.overloaded }
            return GameSamples.answered(.pending)
        }
        try await onThread {
            let client = try hall.connect()
            let answer = try Self.verified(client)
            #expect(answer.code == 10 && !answer.finish && answer.retryAfter == 2)
            #expect(answer.message.hasPrefix("PURCHASE_PENDING (request "))
            let page = try Self.page(client, HistoryQuestion())
            #expect(page.code == 11 && page.records.isEmpty && page.retryAfter == 1)
            #expect(try Self.page(client, HistoryQuestion(limit: 101)).code == 50)
            guard case .verified(let wrong) = try Self.ask(client, .verify(VerifyQuestion(receipt: "", productID: "p")))
            else { return }
            #expect(wrong.code == 50 && !wrong.finish && wrong.productID == "p")
        }
    }

    static let unreadable: [(opcode: UInt8, bytes: [UInt8], code: UInt16)] = [
        (2, [0, 49], 4_404), (2, [1, 0, 0], 4_404), (2, [0, 51], 4_404), (2, [0, 53], 4_404),
        (2, [], 4_400), (2, [0], 4_400), (2, [0, 50, 0x0A], 4_400), (2, [0, 50, 0x0A, 1, 0xFF], 4_400),
        (1, Array("hello".utf8), 1_003), (3, [0], 1_002), (8, [], 1_000),
    ]

    @Test(arguments: unreadable)
    func `what cannot be answered closes the socket with its reason, and no other`(
        _ opcode: UInt8, _ bytes: [UInt8], _ code: UInt16
    ) async throws {
        let hall = try Hall()
        try await onThread {
            let other = try hall.connect()
            let client = try hall.connect()
            client.send(opcode, bytes)
            #expect(try client.closeCode() == code)
            #expect(try Self.verified(other).code == 0)
        }
        #expect(hall.door.asker.asked.count == 1)
    }

    @Test func `a message longer than a receipt can be is refused by its head`() async throws {
        var limits = WebSocketLimits()
        limits.maximumMessageBytes = ReceiptBody.longestBody
        let hall = try Hall(limits)
        try await onThread {
            let client = try hall.connect()
            client.raw.send(SocketClient.frame(2, [0, 50], announced: ReceiptBody.longestBody + 1))
            #expect(try client.closeCode() == 1_009)
            // The longest receipt passes.
            let longest = try hall.connect()
            let receipt = String(repeating: "A", count: ReceiptBody.longestReceipt)
            guard
                case .verified(let answer) = try Self.ask(
                    longest, .verify(VerifyQuestion(receipt: receipt, productID: "p")))
            else { return }
            #expect(answer.code == 0)
        }
    }

    @Test func `messages count in the limits of their user and of their address (S42 C-029)`() async throws {
        let rate = { (burst: Int) in RateLimiter(TokenBuckets.Rate(perSecond: 1, burst: burst), now: { 0 }) }
        var addresses = AddressLimits()
        addresses.others = rate(2)
        for hall in [try Hall(users: rate(3)), try Hall(addresses: addresses)] {
            try await onThread {
                // The handshake is a request of the user's as well.
                let client = try hall.connect()
                #expect(try Self.verified(client).code == 0)
                #expect(try Self.verified(client).code == 0)
                let answer = try Self.verified(client)
                #expect(answer.code == 12 && !answer.finish && answer.retryAfter == 1)
                #expect(try Self.page(client, HistoryQuestion()).code == 12)
            }
            #expect(hall.door.asker.asked.count == 2)
        }
    }

    @Test func `an expired token ends its socket, and opens none (S34)`() async throws {
        let hall = try Hall()
        try await onThread {
            #expect(throws: NoSocket.self) { try hall.connect(lifetime: -600) }
            #expect(throws: NoSocket.self) { try hall.connect(app: "clouds") }
            let short = try hall.connect(lifetime: 1)
            #expect(try short.closeCode() == 4_401)
        }
    }

    @Test func `an app or a key that is withdrawn ends its sockets at their next message`() async throws {
        let hall = try Hall()
        try await onThread {
            let client = try hall.connect()
            #expect(try Self.verified(client).code == 0)
            hall.door.apps.replace(by: AppDirectory([]))
            client.send(2, Self.verify.encoded())
            #expect(try client.closeCode() == 4_401)
        }
        #expect(hall.door.asker.asked.count == 1)
    }

    @Test func `what is no handshake is told how to make one; too many sockets are refused`() async throws {
        var limits = WebSocketLimits()
        limits.maximumConnectionsPerAddress = 2
        limits.maximumConnections = 2
        let hall = try Hall(limits)
        let plain = try await GameSamples.send(hall.door, "GET", "/iap/ws")
        #expect(plain.status == 426 && plain.code == "UPGRADE_REQUIRED")
        #expect(plain.header("Upgrade") == "websocket" && plain.header("Sec-WebSocket-Version") == "13")
        try await onThread {
            let clients = try (1...2).map { _ in try hall.connect() }
            let token = try TestTokens.make("game")
            let surplus = try RawClient(port: hall.server.port)
            surplus.send(
                SocketClient.handshake(
                    SocketClient.upgrade + ["Host: game.example", "Authorization: Bearer \(token)"], path: "/iap/ws"))
            let answer = try #require(try surplus.answer())
            #expect(answer.status == 503 || answer.status == 429)
            #expect(try JSONReader.parseObject(Array(answer.body.utf8))["reason"] != nil)
            for client in clients { client.raw.disconnect() }
            try eventually { hall.hub.count == 0 }
            let next = try hall.connect()
            #expect(try Self.verified(next).code == 0)
        }
    }

    @Test func `a gateway that stops answers what it has begun and says good-bye to everybody (C-029)`() async throws {
        let gate = SlowAsker()
        let hall = try Hall(asker: gate)
        try await onThread {
            let idle = try hall.connect()
            let busy = try hall.connect()
            busy.send(2, Self.verify.encoded())
            try eventually { gate.isWaiting }
            let stopped = NamedThread.start(name: "stop") { hall.hub.stop(grace: .seconds(30)) }
            #expect(try idle.closeCode() == 1_001)
            gate.open()
            let frame = try #require(try busy.receive())
            #expect(try GameMessage(frame.payload).id == .verified)
            #expect(try busy.closeCode() == 1_001)
            for client in [idle, busy] { client.raw.disconnect() }
            stopped.join()
        }
    }

    @Test func `peers that read nothing, say half a message or vanish keep nobody else waiting (C-029)`() async throws {
        var limits = WebSocketLimits()
        limits.messageDeadline = .milliseconds(300)
        limits.writeDeadline = .milliseconds(300)
        let hall = try Hall(limits)
        try await onThread {
            var hostile: [SocketClient] = []
            for kind in 0..<30 {
                let client = try hall.connect()
                hostile.append(client)
                let frame = SocketClient.frame(2, Self.verify.encoded())
                switch kind % 3 {
                case 0: client.raw.send(Array(frame.prefix(9)))
                case 1: client.raw.send(SocketClient.frame(2, [0, 50], isFinal: false))
                default:
                    client.raw.send(frame)
                    client.raw.disconnect()
                }
            }
            let honest = try hall.connect()
            for _ in 1...50 { #expect(try Self.verified(honest).code == 0) }
            // Half a message ends its socket; the honest one stays.
            try eventually { hall.hub.count == 1 }
            #expect(try Self.verified(honest).code == 0)
            for client in hostile { client.raw.disconnect() }
        }
    }
}
