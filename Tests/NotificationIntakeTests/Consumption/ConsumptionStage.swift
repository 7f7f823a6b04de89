import AppStoreServerAPI
import AppStoreSimulation
import JSON
import Messages
import Observability
import Pipeline
import Postgres
import Runtime
import Synchronization
import TestSupport

@testable import NotificationIntake

/// Time that passes only when a test says so.
final class Clock: Sendable {
    private let time: Mutex<Int64>
    init(_ time: Int64 = World.now) { self.time = Mutex(time) }
    var now: Int64 { time.withLock { $0 } }
    func advance(by milliseconds: Int64) { time.withLock { $0 += milliseconds } }
    func set(_ milliseconds: Int64) { time.withLock { $0 = milliseconds } }
}

/// Granting, as a test wants it; counts what it was asked.
final class ScriptedAssessor: ConsumptionAssessor {
    private let script: Mutex<@Sendable () throws -> ConsumptionAssessed>
    private let count = Mutex(0)
    init(_ script: @escaping @Sendable () throws -> ConsumptionAssessed) { self.script = Mutex(script) }
    var asked: Int { count.withLock { $0 } }

    func answer(_ script: @escaping @Sendable () throws -> ConsumptionAssessed) {
        self.script.withLock { $0 = script }
    }

    func assess(_ request: ConsumptionRequestRow) throws -> ConsumptionAssessed {
        count.withLock { $0 += 1 }
        return try script.withLock { $0 }()
    }
}

/// Apple, as a test wants it; remembers what it was told.
final class ScriptedDoor: AppStoreDoor, Sendable {
    private let failures: Mutex<[ServerAPIError]>
    private let sent = Mutex<[(answer: ConsumptionAnswer, transaction: String)]>([])
    private let barrier: Mutex<ConsumptionReason?>

    /// Fails with each of these in turn, then accepts.
    init(failing failures: [ServerAPIError] = [], obstacle: ConsumptionReason? = nil) {
        self.failures = Mutex(failures)
        barrier = Mutex(obstacle)
    }

    var told: [(answer: ConsumptionAnswer, transaction: String)] { sent.withLock { $0 } }
    func open() { barrier.withLock { $0 = nil } }
    func obstacle(of app: AppID) -> ConsumptionReason? { barrier.withLock { $0 } }

    func send(_ answer: ConsumptionAnswer, for request: ConsumptionRequestRow) throws(ServerAPIError) {
        sent.withLock { $0.append((answer, request.transactionID.rawValue)) }
        if let failure = failures.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) { throw failure }
    }
}

/// A database with consumption requests, and workers on it.
struct ConsumptionStage: Sendable {
    let intake: IntakeDatabase
    let clock: Clock
    let metrics: Metrics
    var schedule = ConsumptionSchedule()

    init(_ intake: IntakeDatabase, _ clock: Clock = Clock()) {
        self.intake = intake
        self.clock = clock
        metrics = Metrics()
    }

    /// Stores requests numbered so, signed a second ago.
    func store(_ numbers: ClosedRange<Int>, isAdvancedCommerce: Bool = false) throws {
        var session = try intake.open()
        let world = try World()
        _ = try session.run(
            try numbers.map { number in
                var transaction = World.transaction("200000000000000\(number)")
                if isAdvancedCommerce { transaction.overrides = ["advancedCommerceInfo": ["requestReferenceId": "r"]] }
                return try received(
                    world.sign("CONSUMPTION_REQUEST", number, transaction: transaction) {
                        $0.consumptionRequestReason = "UNINTENDED_PURCHASE"
                    })
            })
    }

    func connect() throws -> Connection { try intake.database.open(role: "purser_intake") }

    func answerer(
        _ assessor: any ConsumptionAssessor, _ door: any AppStoreDoor,
        probe: any ConsumptionProbe = NoConsumptionProbe()
    ) -> AnswerConsumption {
        AnswerConsumption(
            schedule: schedule, assessor: assessor, door: door, instruments: ConsumptionMetrics(metrics),
            logger: .silent, probe: probe, now: { [clock] in clock.now })
    }

    /// Everything that is due now.
    func run(_ answerer: inout AnswerConsumption) throws {
        var connection = try connect()
        while try answerer.answerNext(on: &connection) {}
    }

    /// State and reason of a request.
    func state(_ number: Int = 1) throws -> String {
        let row = try intake.rows(
            "SELECT state || ' ' || reason AS s FROM intake.consumption_requests WHERE notification_uuid = '\(World.uuid(number))'"
        ).first
        return try row?.text("s") ?? "none"
    }

    /// When a request is looked at next, from the time it was signed (ms).
    func next(_ number: Int = 1) throws -> Int64 {
        try intake.rows(
            "SELECT next_at - signed_date AS n FROM intake.consumption_requests WHERE notification_uuid = '\(World.uuid(number))'"
        ).first?.int8("n") ?? -1
    }

    /// Outcomes of the attempts, in order; `-` where there is none yet.
    func attempts(_ number: Int = 1) throws -> [String] {
        try intake.rows(
            """
            SELECT coalesce(outcome, '-') AS o FROM intake.consumption_attempts
            WHERE notification_uuid = '\(World.uuid(number))' ORDER BY attempt
            """
        ).map { try $0.text("o") }
    }
}

extension ConsumptionStage {
    /// Runs a worker of its own beside this one.
    func inThread(_ body: @escaping @Sendable (ConsumptionStage) throws -> Void) -> NamedThread {
        NamedThread.start(name: "copy") { try? body(self) }
    }
}
