import AMQP
import AppStoreSimulation
import Glibc
import JSON
import Messages
import Pipeline
import Runtime
import Synchronization
import TestSupport
import Testing

/// What only hand-made frames can say, what the broker itself refuses, questions, and answers nobody of ours gave.
@Suite(.timeLimit(.minutes(10))) struct HostileFrameTests {
    /// Properties in the order of AMQP 0-9-1: content-type, headers, correlation-id, reply-to, message-id, type.
    private struct Frame: Sendable {
        let name: String
        /// The beginning of the reason to be parked with, nil if it has to be decided.
        let reason: String?
        var headers: [UInt8] = Frame.version
        var correlation: [UInt8] = Array(UUIDText.random().utf8)
        var replyTo: [UInt8]?
        var id: [UInt8] = Array(UUIDText.random().utf8)
        var type: [UInt8] = Array(MessageType.spendRequested.rawValue.utf8)

        static let version = field(HeaderName.schemaVersion, "l", [0, 0, 0, 0, 0, 0, 0, 1])

        static func field(_ name: String, _ kind: Character, _ value: [UInt8]) -> [UInt8] {
            RawPublisher.short(name) + [kind.asciiValue ?? 0] + value
        }

        var flags: UInt16 { 0x8000 | 0x2000 | 0x0400 | (replyTo == nil ? 0 : 0x0200) | 0x0080 | 0x0020 }

        var bytes: [UInt8] {
            RawPublisher.short("application/json") + RawPublisher.long(headers) + RawPublisher.short(correlation)
                + (replyTo.map { RawPublisher.short($0) } ?? []) + RawPublisher.short(id) + RawPublisher.short(type)
        }

        /// A table in a table in a table…
        static func nested(_ depth: Int) -> [UInt8] {
            var table: [UInt8] = []
            for _ in 0..<depth { table = field("a", "F", RawPublisher.long(table)) }
            return table
        }

        static let strange = [UInt8](repeating: 0xFF, count: 255)
        static let everyKind: [UInt8] =
            field("t", "t", [1]) + field("b", "b", [0xFF]) + field("B", "B", [0xFF]) + field("s", "s", [0x80, 0])
            + field("u", "u", [0xFF, 0xFF]) + field("I", "I", [0x80, 0, 0, 0]) + field("i", "i", strange4)
            + field("f", "f", [0x3F, 0x80, 0, 0]) + field("d", "d", [0x3F, 0xF0, 0, 0, 0, 0, 0, 0])
            + field("D", "D", [255, 0xFF, 0xFF, 0xFF, 0xFF]) + field("T", "T", strange4 + strange4)
            + field("V", "V", []) + field("x", "x", RawPublisher.long(strange))
            + field("S", "S", RawPublisher.long(strange))
            + field("A", "A", RawPublisher.long([UInt8(ascii: "V"), UInt8(ascii: "V")]))
        private static let strange4: [UInt8] = [0xFF, 0xFF, 0xFF, 0xFF]
    }

    private static let frames: [Frame] = [
        Frame(name: "an id that is not UTF-8", reason: "message.id_missing", id: Frame.strange),
        Frame(name: "a type that is not UTF-8", reason: "message.type_missing", type: Frame.strange),
        Frame(name: "a correlation id that is not UTF-8", reason: nil, correlation: Frame.strange),
        Frame(name: "a reply address that is not UTF-8", reason: nil, replyTo: Frame.strange),
        Frame(name: "every kind of header", reason: nil, headers: Frame.version + Frame.everyKind),
        Frame(
            name: "a header name that is not UTF-8", reason: nil,
            headers: Frame.version + [255] + Frame.strange + [UInt8(ascii: "V")]),
        Frame(
            name: "an app that is not UTF-8", reason: nil,
            headers: Frame.version + Frame.field(HeaderName.app, "S", RawPublisher.long(Frame.strange))),
        Frame(
            name: "the version twice", reason: "message.version_unknown",
            headers: Frame.version + Frame.field(HeaderName.schemaVersion, "l", [0xFF, 0, 0, 0, 0, 0, 0, 0])),
        Frame(
            name: "a version that is a real number", reason: "message.version_unknown",
            headers: Frame.field(HeaderName.schemaVersion, "d", [0x3F, 0xF0, 0, 0, 0, 0, 0, 0])),
        Frame(name: "tables nested a hundred deep", reason: nil, headers: Frame.version + Frame.nested(100)),
        // A frame holds 128 KiB, a level takes seven bytes.
        Frame(name: "tables nested 15,000 deep", reason: nil, headers: Frame.version + Frame.nested(15_000)),
        Frame(
            name: "headers that fill the frame", reason: "message.header_invalid",
            headers: Frame.version
                + Frame.field(HeaderName.app, "S", RawPublisher.long([UInt8](repeating: 120, count: 130_000)))),
    ]

    @Test func `frames that no library would send are handled or parked, and no lane loses its connection (R08)`()
        async throws
    {
        let deployment = try await Deployment.shared("hostile")
        try await onThread {
            let insider = try Insider(deployment)
            try insider.clear()
            let pids = deployment.pids()
            let reconnects = try deployment.metric("purser_lane_reconnects_total", of: .granting)
            let before = try insider.done(Topology.grantingWallet)
            let raw = try RawPublisher(insider.endpoint)
            for frame in Self.frames {
                try raw.publish(
                    exchange: Topology.exchange(of: "gateway"), routingKey: MessageType.spendRequested.rawValue,
                    flags: frame.flags,
                    properties: frame.bytes, body: try MessageCoding.encode(HostileValues.spend()))
            }
            let reasons = Self.frames.compactMap(\.reason)
            let parked = try insider.parked(of: Topology.grantingWallet, count: reasons.count)
            #expect(parked.map(\.reason) == reasons)
            let good = Self.frames.count - reasons.count
            try eventually("the others are decided") { try insider.done(Topology.grantingWallet) - before == good }
            try insider.expectEmpty(Topology.grantingWallet)
            #expect(deployment.pids() == pids, "no process died")
            #expect(try deployment.metric("purser_lane_reconnects_total", of: .granting) == reconnects)
        }
    }

    @Test func `the broker takes no body that is larger than any of ours, and others do not notice (R08)`() async throws
    {
        let deployment = try await Deployment.shared("hostile")
        try await onThread {
            let insider = try Insider(deployment)
            try insider.clear()
            for name in HostileQueueTests.workQueues {
                let queue = try #require(Topology.queues.first { $0.name == name })
                let large = insider.message(queue.types[0], [UInt8](repeating: 0x20, count: 10 << 20))
                let error = #expect(throws: AMQPError.self) { try insider.publish([large]) }
                // 406: precondition failed.
                guard case .channelClosed(406, _) = error else {
                    Issue.record("\(String(describing: error))")
                    continue
                }
                try insider.expectEmpty(queue)
                #expect(try insider.parked(of: queue, count: 0, within: .seconds(1)).isEmpty)
            }
            var backend = try deployment.backend("large-anna")
            #expect(try backend.balance() == ["danbing": 0, "timeMinutes": 0])
        }
    }

    /// Every question about a user's own things, with a text where ids are expected.
    private static func questions(
        about text: String, of app: AppID, _ insider: Insider
    ) throws -> [OutgoingMessage] {
        let (user, transaction) = (UserID(text), TransactionID(text))
        let place = HistoryPlace(microseconds: .min, environment: .sandbox, transactionID: transaction)
        return [
            try insider.message(BalanceRequested(app: AppID(text), userID: user)),
            try insider.message(CatalogRequested(app: AppID(text))),
            try insider.message(
                LedgerRequested(app: app, userID: user, asset: AssetID(text), before: .min, limit: .min)),
            try insider.message(LedgerRequested(app: app, userID: user, asset: nil, before: .max, limit: .max)),
            try insider.message(TransactionRequested(app: app, userID: user, transactionID: transaction)),
            try insider.message(HistoryRequested(app: app, userID: user, before: place, limit: .min)),
        ]
    }

    @Test func `damaged questions are told so and harm no other question (R08, S40)`() async throws {
        let deployment = try await Deployment.shared("hostile")
        try await onThread {
            let insider = try Insider(deployment)
            let pids = deployment.pids()
            var inspector = try Inspector.open(insider.endpoint, connectionName: "insider")
            let address = "hostile.replies.\(UUIDText.random())"
            try inspector.declareQueue(address, arguments: ["x-queue-type": "classic"])
            try inspector.bindQueue(address, exchange: Topology.replies, routingKey: address)
            defer {
                try? inspector.deleteQueue(address)
                inspector.close()
            }
            let app = AppID("cloudpc")
            var questions: [OutgoingMessage] = []
            let good = try insider.message(BalanceRequested(app: app, userID: UserID("hostile-asker")))
            for poison in Poison.properties + Poison.bodies.dropLast(2) {
                var message = good
                message.properties.replyTo = address
                poison.apply(&message)
                questions.append(message)
            }
            let damaged = questions.count
            for text in HostileValues.texts + [HostileValues.megabyte, HostileValues.nul] {
                questions += try Self.questions(about: text, of: app, insider)
            }
            for index in questions.indices { questions[index].properties.replyTo = address }
            var backend = try deployment.backend("asker-anna")
            try insider.publish(questions)
            #expect(try backend.balance() == ["danbing": 0, "timeMinutes": 0])
            let answers = try insider.taken(from: address, count: questions.count)
            #expect(answers.count == questions.count)
            let parked = answers.count { $0.properties.type == MessageType.requestParked.rawValue }
            // Of the values only those with NUL, which PostgreSQL has no text for.
            #expect(parked == damaged + 6)
            try insider.expectEmpty(Topology.grantingQueries)
            #expect(deployment.pids() == pids, "no process died")
        }
    }

    @Test func `answers that nobody of ours gave end in 503 and no crash, the next question is answered`() async throws
    {
        let deployment = try await Deployment.shared("hostile")
        try await onThread {
            let insider = try Insider(deployment)
            let pids = deployment.pids()
            var inspector = try Inspector.open(insider.endpoint, connectionName: "insider")
            let spy = "hostile.spy.\(UUIDText.random())"
            try inspector.declareQueue(spy, arguments: ["x-queue-type": "classic"])
            try inspector.bindQueue(
                spy, exchange: Topology.exchange(of: "gateway"), routingKey: MessageType.balanceRequested.rawValue)
            defer {
                try? inspector.deleteQueue(spy)
                inspector.close()
            }
            for (name, type, body, status) in Self.falseAnswers {
                deployment.process(.granting)?.send(SIGSTOP)
                let answer = Mutex<Int?>(nil)
                let asker = NamedThread.start(name: "asker") {
                    let status = try? deployment.status(of: "/api/wallet/balance", user: "false-anna")
                    answer.withLock { $0 = status ?? -1 }
                }
                let question = try #require(try insider.taken(from: spy, count: 1).last)
                var reply = insider.message(MessageType(rawValue: type), body)
                reply.exchange = Topology.replies
                reply.routingKey = question.properties.replyTo ?? ""
                // Without correlation id, with somebody else's, and then the one that is waited for.
                var strays = [reply, reply]
                strays[0].properties.correlationID = nil
                reply.properties.correlationID = question.properties.correlationID
                try insider.publish(strays + [reply, reply])
                #expect(asker.join(for: .seconds(60)))
                #expect(answer.withLock { $0 } == status, "\(name)")
                deployment.process(.granting)?.send(SIGCONT)
                var backend = try deployment.backend("false-anna")
                #expect(try backend.balance() == ["danbing": 0, "timeMinutes": 0])
                // That question was overheard, too; the next round must not answer it instead of its own.
                #expect(try insider.taken(from: spy, count: 1).count == 1)
            }
            #expect(deployment.pids() == pids, "no process died")
        }
    }

    private static let falseAnswers: [(String, String, [UInt8], Int)] = [
        ("garbage", "balance.answered", Array("garbage".utf8), 503), ("empty", "balance.answered", [], 503),
        ("another type", "purchase.granted", Array("{}".utf8), 503), ("no type", "", Array("{}".utf8), 503),
        ("parked without a reason", "request.parked", [], 503),
        ("four million bytes", "balance.answered", [UInt8](repeating: UInt8(ascii: "["), count: 4 << 20), 503),
        (
            "hostile values", "balance.answered",
            Array(
                #"{"balances":[{"asset":"__proto__","amount":-9223372036854775808},{"asset":"a\u0000\r\nb","amount":1}]}"#
                    .utf8),
            200
        ),
    ]
}
