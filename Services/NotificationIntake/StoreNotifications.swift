import AppStore
import Crypto
import Messages
import Observability
import Pipeline
import Postgres
import Reloading
import Trust

/// Turns `notification.received` into a stored notification and its fact `notification.<type>`, once for each
/// (environment, notificationUUID).
///
/// All cryptography happens before the first statement. A verdict is always computed anew, also for a redelivered
/// message; what was published before is recalled by the lane. A forgery gets no further than the quarantine, whose key
/// is the message: it cannot occupy the key of a genuine notification.
struct StoreNotifications: Handler {
    private var verifier: SignedDataVerifier
    private var follower: Follower<IntakeApps>?
    private var store: NotificationStore
    private var chains: ChainWatch
    private let instruments: IntakeMetrics
    private let logger: Logger
    private let now: @Sendable () -> Int64
    /// Anybody can send forgeries: a flood of them must not become a flood of lines.
    private let refusals = LineBudget()

    init(
        verifier: SignedDataVerifier, follower: Follower<IntakeApps>? = nil, instruments: IntakeMetrics, logger: Logger,
        chains: ChainWatch,
        store: NotificationStore = NotificationStore(),
        now: @escaping @Sendable () -> Int64 = { WallClock.milliseconds }
    ) {
        self.verifier = verifier
        self.follower = follower
        self.store = store
        self.chains = chains
        self.logger = logger
        self.now = now
        self.instruments = instruments
    }

    /// What is found about one message before anything is stored.
    private enum Verdict {
        case genuine(GenuineNotification)
        /// Not to be believed, or not for us: kept in quarantine.
        case refused(VerificationFailure)
        /// Cannot be told now: the machine's clock, or memory.
        case later(reason: String)
        case unreadable
    }

    mutating func handle(_ batch: [Incoming], in transaction: inout Transaction) throws -> [Outcome] {
        // Apps that were added or changed are known from the next batch on.
        if let apps = follower?.changed(), let verifier = try? apps.trust.verifier() { self.verifier = verifier }
        let time = now()
        let bodies = batch.map { $0.read(NotificationReceived.self) }
        var verdicts: [Verdict] = []
        for (received, incoming) in zip(bodies, batch) {
            verdicts.append(received.map { judge($0, incoming.header, time) } ?? .unreadable)
        }
        let requests = try chains.look(at: sightings(verdicts, batch), now: time, in: &transaction)
        var arrivals: [NotificationStore.Arrival] = []
        var refusals: [NotificationStore.Refusal] = []
        for (index, (received, incoming)) in zip(bodies, batch).enumerated() {
            verdicts[index] = considered(verdicts[index], time)
            switch (verdicts[index], received) {
            case (.genuine(let notification), _):
                arrivals.append(NotificationStore.Arrival(notification: notification, message: incoming.header))
            case (.refused(let failure), let received?):
                refusals.append(.init(of: received, for: failure, message: incoming.header))
            default: break
            }
        }
        let new = try store.save(arrivals, refusals, in: &transaction)
        return try zip(verdicts, batch).map { verdict, incoming in
            try outcome(of: verdict, incoming.header, isNew: new.contains(incoming.header.id), time)
                .telling(requests[incoming.header.id] ?? [])
        }
    }

    private func sightings(_ verdicts: [Verdict], _ batch: [Incoming]) -> [ChainWatch.Sighting] {
        zip(verdicts, batch).flatMap { verdict, incoming -> [ChainWatch.Sighting] in
            guard case .genuine(let notification) = verdict else { return [] }
            return notification.signatures.map { ChainWatch.Sighting($0.chain, incoming.header) }
        }
    }

    /// The same with what is known about the certificates that signed, outside and inside.
    private func considered(_ verdict: Verdict, _ time: Int64) -> Verdict {
        guard case .genuine(let notification) = verdict else { return verdict }
        let found = notification.signatures.map { chains.verdict(on: $0.chain, signedDate: $0.date, now: time) }
        if found.contains(.revoked) { return .refused(.certificateRevoked) }
        if found.contains(.waits) { return .later(reason: VerificationFailure.revocationUnknown.reason.rawValue) }
        return verdict
    }

    private mutating func judge(_ received: NotificationReceived, _ header: MessageHeader, _ time: Int64) -> Verdict {
        let began = ContinuousClock.now
        defer { instruments.seconds.observe(began.duration(to: .now)) }
        do throws(VerificationFailure) {
            let verified = try verifier.verifyNotification(Array(received.signedPayload.utf8), now: time)
            instruments.note(verified.notification.signer, now: time)
            let notification = try GenuineNotification(verified, undated: header.occurredAt)
            if notification.app != received.app { tellMisaddressed(notification, received.app, header) }
            return .genuine(notification)
        } catch {
            return error.isTransient ? .later(reason: error.reason.rawValue) : .refused(error)
        }
    }

    private func outcome(
        of verdict: Verdict, _ header: MessageHeader, isNew: Bool, _ time: Int64
    ) throws -> Outcome {
        switch verdict {
        case .genuine(let notification):
            guard isNew else {
                instruments.repeated.increment()
                // If this very message stored it, the lane finds the fact by its cause.
                return .done(facts: [], reply: nil)
            }
            instruments.stored(notification.told.messageType).increment()
            tell(notification, header)
            let fact = try Fact(
                notification.told, key: notification.factKey, app: notification.app,
                environment: notification.environment, causedBy: header, occurredAt: time)
            return .done(facts: [fact], reply: nil)
        case .refused(let failure):
            instruments.refused(failure.reason.rawValue).increment()
            tell(failure, header)
            return .done(facts: [], reply: nil)
        case .later(let reason):
            instruments.postponed.increment()
            logger.error(
                "a notification cannot be judged now; is this machine's clock right, do Apple's responders answer?",
                ["correlation.id": .string(header.correlationID), "reason": .string(reason)])
            return .retry(
                after: RetryPolicy.delay(attempt: header.attempt), reason: reason, isOutage: true, reply: nil)
        case .unreadable: return .park(reason: Incoming.unreadable)
        }
    }

    private func tell(_ notification: GenuineNotification, _ header: MessageHeader) {
        var fields: [String: LogValue] = [
            "correlation.id": .string(header.correlationID), "app": .string(notification.app.rawValue),
            "environment": .string(notification.environment.rawValue),
            "notification.uuid": .string(notification.told.notificationUUID),
            "notification.type": .string(notification.told.messageType.rawValue),
        ]
        if let subtype = notification.told.subtype {
            fields["notification.subtype"] = .string(Excerpt.of(subtype, limit: 64))
        }
        guard notification.isKnown else {
            fields["apple.type"] = .string(Excerpt.of(notification.told.notificationType, limit: 64))
            logger.error("a notification of a kind this version does not know is kept for an upgrade", fields)
            return
        }
        logger.debug("notification stored", fields)
    }

    private func tell(_ failure: VerificationFailure, _ header: MessageHeader) {
        guard let keptBack = refusals.line(failure.reason.rawValue) else { return }
        var fields: [String: LogValue] = [
            "correlation.id": .string(header.correlationID), "reason": .string(failure.reason.rawValue),
            "check": .string(failure.check.rawValue),
        ]
        if let inside = failure.inside { fields["inside"] = .string(inside) }
        if keptBack > 0 { fields["lines.kept.back"] = .int(keptBack) }
        logger.warning("notification refused", fields)
    }

    private func tellMisaddressed(_ notification: GenuineNotification, _ address: AppID, _ header: MessageHeader) {
        instruments.misaddressed.increment()
        logger.warning(
            "a notification came to another app's address; see App Store Connect",
            [
                "correlation.id": .string(header.correlationID), "app": .string(notification.app.rawValue),
                "address.app": .string(Excerpt.of(address.rawValue, limit: 64)),
            ])
    }
}
