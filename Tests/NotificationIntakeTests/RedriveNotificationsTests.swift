import AppStore
import AppStoreSimulation
import Messages
import Observability
import Pipeline
import Postgres
import TestSupport
import Testing

@testable import NotificationIntake

/// Stored notifications told again, on real PostgreSQL.
@Suite(.timeLimit(.minutes(2))) struct RedriveNotificationsTests {
    private static func request(
        _ uuids: [String] = [], types: [String] = [], environment: StoreEnvironment? = nil, isDryRun: Bool = false,
        after: Int64? = nil, id: MessageID = MessageID(UUIDText.random())
    ) throws -> Incoming {
        var body = NotificationRedriveRequested(
            notificationUUIDs: uuids, environment: environment, notificationTypes: types, actor: "tests",
            isDryRun: isDryRun)
        body.after = after
        let header = MessageHeader(
            id: id, type: .notificationRedriveRequested, version: 1, occurredAt: World.now, correlationID: "c",
            replyTo: "control")
        return Incoming(header: header, body: try MessageCoding.encode(body), isRedelivered: false)
    }

    private static func answer(_ outcome: Outcome?) throws -> NotificationRedriveAnswered? {
        guard case .done(_, let reply?) = outcome else { return nil }
        return try MessageCoding.decode(NotificationRedriveAnswered.self, from: reply.body)
    }

    /// Stores three refunds and a kind nobody knows.
    private static func fill(_ intake: IntakeDatabase) throws {
        var session = try intake.open()
        let world = try World()
        _ = try session.run([
            try received(world.sign("REFUND", 1)), try received(world.sign("REFUND", 2)),
            try received(world.sign("REFUND", 3)), try received(world.sign("SOMETHING_NEW", 4)),
        ])
    }

    @Test func `each is told as a new message, caused by the request, with the same content`() async throws {
        try await IntakeDatabase.with("redrive") { intake in
            try Self.fill(intake)
            let first = try intake.rows("SELECT id, body FROM intake.facts WHERE key LIKE '%\(World.uuid(2))'")
            var session = try intake.open(handler: try IntakeDatabase.redriver())
            let request = try Self.request([World.uuid(2).uppercased(), World.uuid(9), "nonsense"])
            let outcome = try session.run([request]).first
            let answer = try Self.answer(outcome)
            #expect(answer?.count == 1 && answer?.unknown == [World.uuid(9), "nonsense"] && answer?.next == nil)
            let fact = try #require(outcome?.facts.first)
            #expect(outcome?.facts.count == 1 && fact.cause == request.header.id && fact.revision == 1)
            #expect(fact.type == AppleNotificationType.refund.messageType && fact.key == "Production/\(World.uuid(2))")
            #expect(try UUIDText.parse(fact.id.rawValue) != first.first?.uuid("id"))
            #expect(try String(decoding: fact.body, as: UTF8.self) == first.first?.text("body"))
            let record = try intake.rows("SELECT actor, is_dry_run FROM intake.redrives").first
            #expect(try record?.text("actor") == "tests" && record?.bool("is_dry_run") == false)
            // Again by another request: the next revision.
            #expect(try session.run([try Self.request([World.uuid(2)])]).first?.facts.first?.revision == 2)
        }
    }

    @Test func `a redelivered request tells nothing new and is answered the same`() async throws {
        try await IntakeDatabase.with("redrive_again") { intake in
            try Self.fill(intake)
            var session = try intake.open(handler: try IntakeDatabase.redriver())
            let request = try Self.request(types: ["REFUND"])
            let outcomes = try session.run([request, request]) + session.run([request])
            #expect(outcomes.map(\.facts.count) == [3, 0, 0])
            #expect(try outcomes.map { try Self.answer($0)?.count } == [3, 3, 3])
            #expect(try intake.count("facts") == 4 + 3 && intake.count("redrives") == 1)
        }
    }

    @Test func `a dry run counts and tells nothing`() async throws {
        try await IntakeDatabase.with("redrive_dry") { intake in
            try Self.fill(intake)
            var session = try intake.open(handler: try IntakeDatabase.redriver())
            let outcome = try session.run([try Self.request(types: ["REFUND"], isDryRun: true)]).first
            #expect(try Self.answer(outcome)?.count == 3 && outcome?.facts.count == 0)
            #expect(try intake.count("facts") == 4)
        }
    }

    @Test func `many are told page by page, each once`() async throws {
        try await IntakeDatabase.with("redrive_pages") { intake in
            try Self.fill(intake)
            var session = try intake.open(handler: try IntakeDatabase.redriver(pageSize: 2))
            let first = try session.run([try Self.request(types: ["REFUND", "TEST"])]).first
            let next = try Self.answer(first)?.next
            #expect(first?.facts.count == 2 && next != nil)
            let second = try session.run([try Self.request(types: ["REFUND", "TEST"], after: next)]).first
            #expect(second?.facts.count == 1)
            #expect(try Self.answer(second)?.next == nil)
            let keys = ((first?.facts ?? []) + (second?.facts ?? [])).map(\.key)
            #expect(keys == (1...3).map { "Production/\(World.uuid($0))" })
        }
    }

    @Test func `of one environment only those of it`() async throws {
        try await IntakeDatabase.with("redrive_sandbox") { intake in
            try Self.fill(intake)
            var session = try intake.open(handler: try IntakeDatabase.redriver())
            for request in [
                try Self.request(types: ["REFUND"], environment: .sandbox),
                try Self.request([World.uuid(1)], environment: .sandbox),
            ] { #expect(try session.run([request]).first?.facts.count == 0) }
        }
    }

    @Test func `after an upgrade that knows the type, what was not understood is told under its name`() async throws {
        try await IntakeDatabase.with("redrive_upgrade") { intake in
            var session = try intake.open()
            let world = try World()
            _ = try session.run([try received(world.sign("REFUND", 1)), try received(world.sign("REVOKE", 2))])
            // As if the version that stored it had not known REVOKE.
            try intake.database.execute(
                """
                ALTER TABLE intake.notifications DISABLE TRIGGER append_only;
                UPDATE intake.notifications SET is_known = false WHERE type = 'REVOKE'
                """)
            _ = try session.run([try received(world.sign("STILL_UNKNOWN", 3))])
            session.handler = try IntakeDatabase.redriver()
            let outcome = try session.run([try Self.request()]).first
            #expect(outcome?.facts.map(\.type) == [AppleNotificationType.revoke.messageType])
        }
    }

    @Test func `what does not pass today's verification is named and not told`() async throws {
        try await IntakeDatabase.with("redrive_refused") { intake in
            try Self.fill(intake)
            let other = AcceptedApp(id: "books", bundleIDs: [World.booksBundle])
            var session = try intake.open(
                handler: RedriveNotifications(
                    verifier: try SignedDataVerifier(apps: [other], roots: [try World().authority.root]),
                    instruments: IntakeMetrics(Metrics()), logger: .silent, now: { World.now }))
            let outcome = try session.run([try Self.request([World.uuid(1)])]).first
            let answer = try Self.answer(outcome)
            #expect(answer?.count == 0 && answer?.refused == [World.uuid(1)] && outcome?.facts.count == 0)
        }
    }

    @Test func `a request that cannot be meant is parked`() async throws {
        try await IntakeDatabase.with("redrive_absurd") { intake in
            var session = try intake.open(handler: try IntakeDatabase.redriver())
            let many = Array(repeating: World.uuid(1), count: 501)
            for request in [try Self.request(many), try Self.request(types: ["A\u{0}"]), try received("x")] {
                #expect(try session.run([request]).first?.parkedReason == Incoming.unreadable)
            }
        }
    }
}
