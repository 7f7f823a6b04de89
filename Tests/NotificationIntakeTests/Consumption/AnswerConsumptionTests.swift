import AppStoreServerAPI
import HTTPClient
import JSON
import Messages
import Observability
import Pipeline
import Postgres
import Runtime
import TestSupport
import Testing

@testable import NotificationIntake

/// A request's way from Apple's question to its end, on a real database and in virtual time.
@Suite(.timeLimit(.minutes(2))) struct AnswerConsumptionTests {
    private static let hour: Int64 = 3_600_000
    private static let minute: Int64 = 60_000
    /// Granting says yes.
    private static let consenting: @Sendable () throws -> ConsumptionAssessed = { ConsumptionAnswerTests.assessed() }
    /// Granting says that nobody has consented.
    private static let silent: @Sendable () throws -> ConsumptionAssessed = {
        ConsumptionAnswerTests.assessed { $0.hasConsented = false }
    }

    @Test func `a question is kept once with its clock, however often it comes (A-117)`() async throws {
        try await IntakeDatabase.with("consumption_kept") { intake in
            let stage = ConsumptionStage(intake)
            try stage.store(1...2)
            try stage.store(1...2)
            let rows = try intake.rows("SELECT * FROM intake.consumption_requests ORDER BY notification_uuid")
            #expect(rows.count == 2)
            #expect(try rows[0].int8("deadline") == World.now - 1_000 + 12 * Self.hour)
            #expect(try rows[0].text("asked_because") == "UNINTENDED_PURCHASE")
            #expect(try rows[0].text("bundle_id") == World.gameBundle && rows[0].text("app") == "game")
            #expect(try !rows[0].bool("is_advanced_commerce"))
            #expect(try stage.state() == "pending new")
            var session = try intake.open()
            let world = try World()
            _ = try session.run([try received(world.sign("REFUND", 7))])
            #expect(try intake.count("consumption_requests") == 2, "other notifications are no questions")
            _ = try session.run([try received(world.sign("CONSUMPTION_REQUEST", 8, transaction: nil))])
            #expect(try stage.state(8) == "skipped no_transaction")
        }
    }

    @Test func `with consent Apple is told, once, and what it was told is kept without any key (A-116)`() async throws {
        try await IntakeDatabase.with("consumption_sent") { intake in
            let stage = ConsumptionStage(intake)
            try stage.store(1...3)
            let door = ScriptedDoor()
            var answerer = stage.answerer(ScriptedAssessor(Self.consenting), door)
            try stage.run(&answerer)
            stage.clock.advance(by: 12 * Self.hour)
            try stage.run(&answerer)
            #expect(try (1...3).map { try stage.state($0) } == Array(repeating: "sent accepted", count: 3))
            #expect(door.told.map(\.transaction).sorted() == (1...3).map { "200000000000000\($0)" })
            let row = try #require(
                try intake.rows("SELECT * FROM intake.consumption_attempts ORDER BY notification_uuid").first)
            #expect(try row.text("outcome") == "accepted" && row.int8("http_status") == 202)
            #expect(try row.text("version") == "v2" && row.int8("attempt") == 1)
            let body = try JSONReader.parseObject(Array(try row.json("body").utf8))
            #expect(body["consumptionPercentage"]?.intValue == 33_333 && body["customerConsented"] == true)
            #expect(try intake.count("consumption_attempts") == 3)
        }
    }

    @Test func `purchases of Advanced Commerce are told of in the older form`() async throws {
        try await IntakeDatabase.with("consumption_older") { intake in
            let stage = ConsumptionStage(intake)
            try stage.store(1...1, isAdvancedCommerce: true)
            let door = ScriptedDoor()
            var answerer = stage.answerer(ScriptedAssessor(Self.consenting), door)
            try stage.run(&answerer)
            #expect(door.told.map(\.answer.version) == ["v1"])
        }
    }

    @Test
    func `without consent nothing is sent; given within the clock it counts, given later it does not (A-116 A-117)`()
        async throws
    {
        try await IntakeDatabase.with("consumption_consent") { intake in
            let stage = ConsumptionStage(intake)
            try stage.store(1...1)
            let (assessor, door) = (ScriptedAssessor(Self.silent), ScriptedDoor())
            var answerer = stage.answerer(assessor, door)
            try stage.run(&answerer)
            #expect(try stage.state() == "pending no_consent" && door.told.isEmpty)
            // Eleven hours in steps of five minutes: asked for again, but not each time.
            for _ in 1...(11 * 12) {
                stage.clock.advance(by: 5 * Self.minute)
                try stage.run(&answerer)
            }
            #expect((40...100).contains(assessor.asked), "\(assessor.asked)")
            #expect(try door.told.isEmpty && stage.attempts().isEmpty)
            assessor.answer(Self.consenting)
            stage.clock.advance(by: 16 * Self.minute)
            try stage.run(&answerer)
            #expect(try stage.state() == "sent accepted" && door.told.count == 1)

            try stage.store(2...2)
            assessor.answer(Self.silent)
            stage.clock.set(World.now)
            try stage.run(&answerer)
            stage.clock.set(World.now - 1_000 + 12 * Self.hour)
            assessor.answer(Self.consenting)
            try stage.run(&answerer)
            #expect(try stage.state(2) == "skipped no_consent" && door.told.count == 1)
        }
    }

    @Test func `the policy's no is final at once, a purchase nobody has brought waits for somebody`() async throws {
        try await IntakeDatabase.with("consumption_policy") { intake in
            let stage = ConsumptionStage(intake)
            try stage.store(1...1)
            let assessor = ScriptedAssessor { ConsumptionAssessed(isAnswered: false) }
            var answerer = stage.answerer(assessor, ScriptedDoor(obstacle: .noKey))
            try stage.run(&answerer)
            #expect(try stage.state() == "skipped policy")
            try stage.store(2...2)
            assessor.answer { ConsumptionAssessed(isAnswered: true) }
            var other = stage.answerer(assessor, ScriptedDoor())
            try stage.run(&other)
            #expect(try stage.state(2) == "pending unclaimed")
            stage.clock.advance(by: 13 * Self.hour)
            try stage.run(&other)
            #expect(try stage.state(2) == "skipped unclaimed")
        }
    }

    /// What Apple answers first, and the wait that follows (ms).
    private static let troubles: [(error: ServerAPIError, reason: String, wait: Int64)] = [
        (.refused(status: 500, code: ServerAPIErrorCode(rawValue: 5_000_001)), "apple_unavailable", 5_000),
        (.refused(status: 404, code: ServerAPIErrorCode(rawValue: 4_040_002)), "apple_unavailable", 5_000),
        (.transport(.timeout), "apple_unavailable", 5_000), (.unreadable("json.truncated"), "apple_unavailable", 5_000),
        (.rateLimited(milliseconds: 90_000), "apple_rate_limited", 90_000),
        (.unauthorized, "apple_unauthorized", 30_000),
    ]

    @Test(arguments: troubles.indices) func `what may pass is tried again after its wait, and answered then`(place: Int)
        async throws
    {
        let (error, reason, wait) = Self.troubles[place]
        try await IntakeDatabase.with("consumption_trouble_\(place)") { intake in
            let stage = ConsumptionStage(intake)
            try stage.store(1...1)
            let door = ScriptedDoor(failing: [error])
            var answerer = stage.answerer(ScriptedAssessor(Self.consenting), door)
            try stage.run(&answerer)
            #expect(try stage.state() == "pending \(reason)")
            #expect(try stage.next() - 1_000 == wait)
            stage.clock.advance(by: wait - 1)
            try stage.run(&answerer)
            #expect(door.told.count == 1, "not before")
            stage.clock.advance(by: 1)
            try stage.run(&answerer)
            #expect(try stage.state() == "sent accepted" && stage.attempts() == [error.code, "accepted"])
        }
    }

    @Test func `what Apple refuses for good is final`() async throws {
        try await IntakeDatabase.with("consumption_refused") { intake in
            let stage = ConsumptionStage(intake)
            try stage.store(1...1)
            let refusal = ServerAPIError.refused(status: 400, code: ServerAPIErrorCode(rawValue: 4_000_047))
            let door = ScriptedDoor(failing: [refusal])
            var answerer = stage.answerer(ScriptedAssessor(Self.consenting), door)
            try stage.run(&answerer)
            stage.clock.advance(by: Self.hour)
            try stage.run(&answerer)
            #expect(try stage.state() == "refused apple_refused" && door.told.count == 1)
            let row = try #require(try intake.rows("SELECT * FROM intake.consumption_attempts").first)
            #expect(try row.int8("apple_code") == 4_000_047 && row.int8("http_status") == 400)
        }
    }

    @Test func `a key that Apple refuses keeps the app's other requests back, without asking for each`() async throws {
        try await IntakeDatabase.with("consumption_401") { intake in
            let stage = ConsumptionStage(intake)
            try stage.store(1...5)
            let door = ScriptedDoor(failing: [.unauthorized])
            var answerer = stage.answerer(ScriptedAssessor(Self.consenting), door)
            try stage.run(&answerer)
            #expect(door.told.count == 1)
            #expect(try (1...5).allSatisfy { try stage.state($0) == "pending apple_unauthorized" })
            #expect(try intake.count("consumption_attempts") == 1)
            #expect(stage.metrics.render().contains(#"server_api_unauthorized{app="game",environment="Production"} 1"#))
            stage.clock.advance(by: 40_000)
            try stage.run(&answerer)
            #expect(try (1...5).allSatisfy { try stage.state($0) == "sent accepted" })
            #expect(stage.metrics.render().contains(#"server_api_unauthorized{app="game",environment="Production"} 0"#))
        }
    }

    @Test func `without a key, an assessment or an answer a request expires at its deadline, with its reason (A-117)`()
        async throws
    {
        try await IntakeDatabase.with("consumption_expired") { intake in
            let stage = ConsumptionStage(intake)
            try stage.store(1...1)
            var keyless = stage.answerer(ScriptedAssessor(Self.consenting), ScriptedDoor(obstacle: .noKey))
            try stage.run(&keyless)
            #expect(try stage.state() == "pending no_key")
            stage.clock.set(World.now - 1_000 + 12 * Self.hour - 1)
            try stage.run(&keyless)
            #expect(try stage.state() == "pending no_key", "until the last millisecond")
            try stage.store(2...2)
            var unasked = stage.answerer(ScriptedAssessor { throw RequestError.timedOut }, ScriptedDoor())
            try stage.run(&unasked)
            #expect(try stage.state(2) == "pending no_assessment")
            stage.clock.advance(by: 1)
            try stage.run(&unasked)
            #expect(try stage.state() == "expired no_key" && stage.state(2) == "expired no_assessment")
            try stage.store(3...3)
            try stage.run(&keyless)
            #expect(try stage.state(3) == "expired late", "it came when Apple no longer waited")
            #expect(stage.metrics.render().contains(#"consumption_ended_total{state="expired"} 3"#))
        }
    }

    @Test func `warnings come at 6 and 11 hours, once among all copies, and gauges count what waits (A-117)`()
        async throws
    {
        try await IntakeDatabase.with("consumption_alerts") { intake in
            let stage = ConsumptionStage(intake)
            try stage.store(1...3)
            var answerer = stage.answerer(ScriptedAssessor { throw RequestError.timedOut }, ScriptedDoor())
            try stage.run(&answerer)
            let copies = [Metrics(), Metrics()]
            func look() throws -> [String] {
                var connection = try stage.connect()
                return try copies.map { metrics in
                    let watch = ConsumptionWatch(
                        schedule: stage.schedule, instruments: ConsumptionMetrics(metrics), logger: .silent)
                    try watch.look(stage.clock.now, on: &connection)
                    return metrics.render()
                }
            }
            func warned(_ stageName: String, _ texts: [String]) -> Int {
                texts.count {
                    $0.contains(
                        "purser_intake_consumption_alerts_total{reason=\"no_assessment\",stage=\"\(stageName)\"} 3")
                }
            }
            #expect(warned("first", try look()) == 0)
            stage.clock.advance(by: 6 * Self.hour)
            var texts = try look()
            #expect(warned("first", texts) == 1, "one of the copies")
            #expect(texts.allSatisfy { $0.contains(#"consumption_open{age="before_second_alert"} 3"#) })
            #expect(texts.allSatisfy { $0.contains(#"consumption_waiting{reason="no_assessment"} 3"#) })
            texts = try look()
            #expect(warned("first", texts) == 1, "not again")
            stage.clock.advance(by: 5 * Self.hour)
            texts = try look()
            #expect(warned("second", texts) == 1)
            #expect(texts.allSatisfy { $0.contains(#"consumption_open{age="after_second_alert"} 3"#) })
        }
    }

    @Test func `many copies at once: each request is told of once`() async throws {
        try await IntakeDatabase.with("consumption_copies") { intake in
            let stage = ConsumptionStage(intake)
            try stage.store(1...9)
            let door = ScriptedDoor()
            let threads = (0..<4).map { _ in
                stage.inThread { stage in
                    var answerer = stage.answerer(ScriptedAssessor(Self.consenting), door)
                    try stage.run(&answerer)
                }
            }
            for thread in threads { thread.join() }
            #expect(door.told.count == 9 && Set(door.told.map(\.transaction)).count == 9)
            #expect(try (1...9).allSatisfy { try stage.state($0) == "sent accepted" })
        }
    }
}
