import AppStoreServerAPI
import Messages
import Pipeline
import Postgres
import Synchronization
import TestSupport
import Testing

@testable import NotificationIntake

/// Every place the answer to Apple can be cut off at, and everything that can break under it.
@Suite(.timeLimit(.minutes(2))) struct ConsumptionCrashTests {
    /// Ends the worker at a point, the first time it comes there.
    private final class EndAt: ConsumptionProbe {
        private let point: ConsumptionPoint
        private let isDone = Mutex(false)
        init(_ point: ConsumptionPoint) { self.point = point }
        func reached(_ point: ConsumptionPoint) throws {
            guard point == self.point,
                isDone.withLock({ done in
                    defer { done = true }; return !done
                })
            else { return }
            throw ConsumptionCrash()
        }
    }

    private static let consenting: @Sendable () throws -> ConsumptionAssessed = { ConsumptionAnswerTests.assessed() }

    @Test(arguments: ConsumptionPoint.allCases)
    func `a worker that dies loses nothing: another answers after its lease, once or safely again (C1 C2 C3)`(
        point: ConsumptionPoint
    ) async throws {
        try await IntakeDatabase.with("consumption_crash_\(point.rawValue)") { intake in
            let stage = ConsumptionStage(intake)
            try stage.store(1...1)
            let door = ScriptedDoor()
            var dying = stage.answerer(ScriptedAssessor(Self.consenting), door, probe: EndAt(point))
            #expect(throws: ConsumptionCrash.self) { try stage.run(&dying) }
            var next = stage.answerer(ScriptedAssessor(Self.consenting), door)
            try stage.run(&next)
            let isOver = point == .finished
            #expect(try stage.state().hasPrefix(isOver ? "sent" : "pending"), "nobody else takes what is leased")
            stage.clock.advance(by: stage.schedule.lease)
            try stage.run(&next)
            #expect(try stage.state() == "sent accepted")
            // What reached Apple without being written down is told again: the same, which is as good as once.
            #expect(door.told.count == (point == .sent ? 2 : 1))
            #expect(Set(door.told.map { "\($0.answer.json)" }).count == 1)
            let attempts: [String] = [.begun, .sent].contains(point) ? ["-", "accepted"] : ["accepted"]
            #expect(try stage.attempts() == attempts, "an attempt without outcome may have reached Apple")
        }
    }

    @Test func `Apple's answer is not lost with the database: it is written down when that is back`() async throws {
        try await IntakeDatabase.with("consumption_database") { intake in
            let stage = ConsumptionStage(intake)
            try stage.store(1...1)
            // The connection is cut while Apple answers.
            let door = CuttingDoor(intake)
            var answerer = stage.answerer(ScriptedAssessor(Self.consenting), door)
            var connection = try stage.connect()
            #expect(throws: PostgresError.self) { _ = try answerer.answerNext(on: &connection) }
            #expect(try stage.state() == "pending new" && stage.attempts() == ["-"])
            try stage.run(&answerer)
            #expect(try stage.state() == "sent accepted" && stage.attempts() == ["accepted"])
            #expect(door.count == 1, "Apple is not told again")
        }
    }

    @Test func `who was overtaken says nothing about what waits, but Apple's word counts`() async throws {
        try await IntakeDatabase.with("consumption_overtaken") { intake in
            let stage = ConsumptionStage(intake)
            try stage.store(1...1)
            var connection = try stage.connect()
            let first = try #require(
                try ConsumptionStore.claim(stage.clock.now, lease: 1_000, on: &connection))
            let answer = try #require(
                ConsumptionAnswer(ConsumptionAnswerTests.assessed(), isAdvancedCommerce: false))
            let attempt = try #require(
                try ConsumptionStore.begin(first, answer, now: stage.clock.now, on: &connection))
            #expect(try ConsumptionStore.claim(stage.clock.now, lease: 1_000, on: &connection) == nil)
            stage.clock.advance(by: 1_000)
            let second = try #require(
                try ConsumptionStore.claim(stage.clock.now, lease: 1_000, on: &connection))
            #expect(second.claims == first.claims + 1)
            #expect(try ConsumptionStore.begin(first, answer, now: 0, on: &connection) == nil, "it must not send")
            let waits = ConsumptionStore.Outcome.waits(.unavailable, next: 0, failures: 1)
            #expect(try !ConsumptionStore.finish(first, waits, after: nil, now: 0, on: &connection))
            let ended = ConsumptionStore.Outcome.ended(state: "expired", .unavailable)
            #expect(try !ConsumptionStore.finish(first, ended, after: nil, now: 0, on: &connection))
            let sent = ConsumptionStore.Outcome.ended(state: "sent", .accepted)
            let told = ConsumptionAttempt(number: attempt, nil)
            #expect(try ConsumptionStore.finish(first, sent, after: told, now: 0, on: &connection))
            #expect(try !ConsumptionStore.finish(second, waits, after: nil, now: 0, on: &connection))
            #expect(try stage.state() == "sent accepted" && stage.attempts() == ["accepted"])
        }
    }

    @Test func `what was asked and told can be changed by nobody`() async throws {
        try await IntakeDatabase.with("consumption_rights") { intake in
            let stage = ConsumptionStage(intake)
            try stage.store(1...1)
            var answerer = stage.answerer(ScriptedAssessor(Self.consenting), ScriptedDoor())
            try stage.run(&answerer)
            var connection = try stage.connect()
            for change in [
                "UPDATE intake.consumption_requests SET deadline = 0", "DELETE FROM intake.consumption_requests",
                "UPDATE intake.consumption_attempts SET body = '{}'", "DELETE FROM intake.consumption_attempts",
            ] {
                #expect(throws: PostgresError.self) { _ = try connection.query(change) }
                #expect(throws: (any Error).self) { try intake.database.execute(change) }
            }
        }
    }
}

/// Apple, accepting; at the first call the database connections of the service are cut meanwhile.
private final class CuttingDoor: AppStoreDoor {
    private let intake: IntakeDatabase
    private(set) var count = 0
    init(_ intake: IntakeDatabase) { self.intake = intake }
    func obstacle(of app: AppID) -> ConsumptionReason? { nil }

    func send(_ answer: ConsumptionAnswer, for request: ConsumptionRequestRow) throws(ServerAPIError) {
        count += 1
        guard count == 1 else { return }
        _ = try? intake.rows(
            """
            SELECT pg_terminate_backend(pid) FROM pg_stat_activity
            WHERE datname = current_database() AND pid <> pg_backend_pid()
            """)
    }
}
