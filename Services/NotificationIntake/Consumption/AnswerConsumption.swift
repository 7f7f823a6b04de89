import AppStoreServerAPI
import Messages
import Observability
import Pipeline
import Postgres
import Runtime

/// Answers consumption requests, one at a time: takes one, asks Granting, tells Apple, writes down what came of it.
///
/// Not a message's work, because Apple's clock and its answers are no messages: the table is the queue. Whatever ends it
/// in the middle, the request is taken again after its lease, and telling Apple twice is as good as once. Belongs to one
/// thread.
struct AnswerConsumption {
    private let schedule: ConsumptionSchedule
    private let assessor: any ConsumptionAssessor
    private let door: any AppStoreDoor
    private let instruments: ConsumptionMetrics
    private let logger: Logger
    private let probe: any ConsumptionProbe
    private let stop: StopSignal?
    private let now: @Sendable () -> Int64
    /// Until when an app's requests are kept back in an environment, and why.
    private var pauses: [String: (until: Int64, reason: ConsumptionReason)] = [:]
    /// What Apple answered and the database could not keep yet.
    private var unwritten: Verdict?

    /// What is decided about a request that was taken.
    private struct Verdict {
        let request: ConsumptionRequestRow
        let outcome: ConsumptionStore.Outcome
        var attempt: ConsumptionAttempt?
    }

    init(
        schedule: ConsumptionSchedule, assessor: any ConsumptionAssessor, door: any AppStoreDoor,
        instruments: ConsumptionMetrics, logger: Logger, probe: any ConsumptionProbe = NoConsumptionProbe(),
        stop: StopSignal? = nil, now: @escaping @Sendable () -> Int64 = { WallClock.milliseconds }
    ) {
        self.schedule = schedule
        self.assessor = assessor
        self.door = door
        self.instruments = instruments
        self.logger = logger
        self.probe = probe
        self.stop = stop
        self.now = now
    }

    /// Takes one request whose time has come and brings it as far as it goes now. False if there is none.
    mutating func answerNext(on connection: inout Connection) throws -> Bool {
        if let verdict = unwritten { try write(verdict, on: &connection) }
        guard let request = try ConsumptionStore.claim(now(), lease: schedule.lease, on: &connection) else {
            return false
        }
        try probe.reached(.claimed)
        guard let verdict = try judge(request, on: &connection) else { return true }
        unwritten = verdict
        try write(verdict, on: &connection)
        try probe.reached(.finished)
        return true
    }

    /// Nil if somebody else has taken the request meanwhile, or the service ends before Apple is told.
    private mutating func judge(
        _ request: ConsumptionRequestRow, on connection: inout Connection
    ) throws -> Verdict? {
        if now() >= request.deadline { return Verdict(request: request, outcome: expired(request)) }
        let place = "\(request.app)/\(request.environment.rawValue)"
        if let pause = pauses[place], pause.until > now() {
            return Verdict(request: request, outcome: later(request, pause.reason, pause: pause.until - now()))
        }
        let assessed: ConsumptionAssessed
        do {
            assessed = try assessor.assess(request)
        } catch let error as RequestError {
            logger.warning(
                "Granting has not said what Apple may be told", fields(request, ["error": .string(error.code)]))
            return Verdict(request: request, outcome: later(request, .noAssessment))
        }
        try probe.reached(.assessed)
        // A question and a call together may take longer than a service has to end.
        if let stop, stop.isStopped { return nil }
        guard assessed.isAnswered else { return Verdict(request: request, outcome: .ended(state: "skipped", .policy)) }
        if let obstacle = door.obstacle(of: request.app) {
            return Verdict(request: request, outcome: later(request, obstacle))
        }
        guard let answer = ConsumptionAnswer(assessed, isAdvancedCommerce: request.isAdvancedCommerce) else {
            return Verdict(request: request, outcome: waits(request, assessed.isOwned ? .noConsent : .unclaimed))
        }
        return try tell(answer, request, place, on: &connection)
    }

    private mutating func tell(
        _ answer: ConsumptionAnswer, _ request: ConsumptionRequestRow, _ place: String, on connection: inout Connection
    ) throws -> Verdict? {
        guard let number = try ConsumptionStore.begin(request, answer, now: now(), on: &connection) else { return nil }
        try probe.reached(.begun)
        var failure: ServerAPIError?
        do throws(ServerAPIError) { try door.send(answer, for: request) } catch { failure = error }
        try probe.reached(.sent)
        let attempt = ConsumptionAttempt(number: number, failure)
        instruments.attempts(attempt.outcome).increment()
        let verdict = failure.map { ConsumptionVerdict($0) } ?? .accepted
        var told = fields(request, ["attempt": .int(Int(number)), "outcome": .string(attempt.outcome)])
        if let status = attempt.status { told["http.status"] = .int(Int(status)) }
        if let code = attempt.code { told["apple.code"] = .int(Int(code)) }
        let isUnauthorized = if case .later(.unauthorized, _, _) = verdict { true } else { false }
        instruments.unauthorized(request.app, request.environment).set(isUnauthorized ? 1 : 0)
        switch verdict {
        case .accepted:
            pauses[place] = nil
            logger.info("Apple was told about consumption", told)
            return Verdict(request: request, outcome: .ended(state: "sent", .accepted), attempt: attempt)
        case .refused:
            logger.error("Apple refuses for good what it was told about consumption", told)
            return Verdict(request: request, outcome: .ended(state: "refused", .refused), attempt: attempt)
        case .later(let reason, let pause, let concernsApp):
            if concernsApp { pauses[place] = (now() + pause, reason) }
            if isUnauthorized {
                logger.error("Apple's Server API refuses the app's key: see its page in the operator's guide", told)
            } else {
                logger.warning("Apple could not be told about consumption; it is tried again", told)
            }
            return Verdict(request: request, outcome: later(request, reason, pause: pause), attempt: attempt)
        }
    }

    private mutating func write(_ verdict: Verdict, on connection: inout Connection) throws {
        let counted = try ConsumptionStore.finish(
            verdict.request, verdict.outcome, after: verdict.attempt, now: now(), on: &connection)
        unwritten = nil
        guard counted, case .ended(let state, let reason) = verdict.outcome else { return }
        instruments.ended(state).increment()
        let told = fields(verdict.request, ["reason": .string(reason.rawValue)])
        switch state {
        case "expired": logger.error("a consumption request of Apple was not answered in time", told)
        case "skipped": logger.info("a consumption request of Apple is not answered", told)
        default: break
        }
    }

    // MARK: - Outcomes

    /// What it waited for last is why it was not answered; where that was somebody's choice it is no failure.
    private func expired(_ request: ConsumptionRequestRow) -> ConsumptionStore.Outcome {
        let reason = ConsumptionReason(rawValue: request.reason) ?? .new
        if reason.isChoice { return .ended(state: "skipped", reason) }
        return .ended(state: "expired", reason == .new ? .late : reason)
    }

    /// Until the customer may have consented.
    private func waits(_ request: ConsumptionRequestRow, _ reason: ConsumptionReason) -> ConsumptionStore.Outcome {
        let next = schedule.nextCheck(signedAt: request.signedDate, deadline: request.deadline, now: now())
        return .waits(reason, next: next, failures: 0)
    }

    private func later(
        _ request: ConsumptionRequestRow, _ reason: ConsumptionReason, pause: Int64 = 0
    ) -> ConsumptionStore.Outcome {
        let failures = request.failures + 1
        let next = schedule.nextTry(failures: failures, pause: pause, deadline: request.deadline, now: now())
        return .waits(reason, next: next, failures: failures)
    }

    private func fields(
        _ request: ConsumptionRequestRow, _ more: [String: LogValue]
    ) -> [String: LogValue] {
        [
            "correlation.id": .string(request.correlationID), "app": .string(request.app.rawValue),
            "environment": .string(request.environment.rawValue),
            "notification.uuid": .string(UUIDText.format(request.uuid)),
            "transaction.id": .string(request.transactionID.rawValue),
        ].merging(more) { $1 }
    }
}
