import AppStore
import Messages
import Observability
import Pipeline
import Postgres
import Reloading
import Trust

/// Tells stored notifications again (`intake.commands`): each as a new message with its own id, caused by the request,
/// decided anew by whoever reads it.
///
/// They are rebuilt as Apple signed them and verified by today's version: so what an older one did not understand is
/// told in full. A request tells a page of them; the answer says where the next one begins.
struct RedriveNotifications: Handler {
    private var verifier: SignedDataVerifier
    private var follower: Follower<IntakeApps>?
    private let instruments: IntakeMetrics
    private let logger: Logger
    private let pageSize: Int64
    private let now: @Sendable () -> Int64

    /// Notifications of one request: a fifth of a second of signatures, and facts of some 2 MB in memory.
    static let defaultPageSize: Int64 = 500

    init(
        verifier: SignedDataVerifier, follower: Follower<IntakeApps>? = nil, instruments: IntakeMetrics, logger: Logger,
        pageSize: Int64 = Self.defaultPageSize, now: @escaping @Sendable () -> Int64 = { WallClock.milliseconds }
    ) {
        self.verifier = verifier
        self.follower = follower
        self.instruments = instruments
        self.logger = logger
        self.pageSize = pageSize
        self.now = now
    }

    mutating func handle(_ batch: [Incoming], in transaction: inout Transaction) throws -> [Outcome] {
        // Apps that were added or changed are known from the next batch on.
        if let apps = follower?.changed(), let verifier = try? apps.trust.verifier() { self.verifier = verifier }
        var outcomes: [Outcome] = []
        // One by one, each seeing the one before it: operators are few.
        for incoming in batch {
            guard let request = incoming.read(NotificationRedriveRequested.self), request.isStorable else {
                outcomes.append(.park(reason: Incoming.unreadable))
                continue
            }
            outcomes.append(try redrive(request, incoming.header, in: &transaction))
        }
        return outcomes
    }

    private mutating func redrive(
        _ request: NotificationRedriveRequested, _ header: MessageHeader, in transaction: inout Transaction
    ) throws -> Outcome {
        if let answer = try RedriveTables.answer(to: header.id, in: &transaction) {
            // The lane finds what it told by its cause.
            return .done(facts: [], reply: try Reply(answer))
        }
        let chosen = try RedriveTables.choose(request, limit: pageSize, in: &transaction)
        let time = now()
        var refused: [String] = []
        var told: [GenuineNotification] = []
        for stored in chosen.stored {
            if let notification = verified(stored, time) {
                told.append(notification)
            } else {
                refused.append(stored.uuid)
            }
        }
        var answer = NotificationRedriveAnswered(count: Int64(told.count), unknown: chosen.unknown)
        answer.refused = refused.isEmpty ? nil : refused
        answer.next = chosen.next
        var facts: [Fact] = []
        if !request.isDryRun {
            let revisions = try RedriveTables.countRedriven(told, in: &transaction)
            facts = try told.compactMap { notification in
                guard let revision = revisions[notification.factKey] else { return nil }
                return try Fact(
                    notification.told, key: notification.factKey, revision: revision, app: notification.app,
                    environment: notification.environment, causedBy: header, occurredAt: time)
            }
            instruments.redriven.increment(by: facts.count)
        }
        try RedriveTables.record(request, answer, header, in: &transaction)
        logger.info(
            "notifications told again",
            [
                "correlation.id": .string(header.correlationID), "count": .int(facts.count),
                "dry.run": .bool(request.isDryRun), "refused": .int(refused.count),
            ])
        return .done(facts: facts, reply: try Reply(answer))
    }

    private mutating func verified(_ stored: RedriveTables.Stored, _ time: Int64) -> GenuineNotification? {
        do throws(VerificationFailure) {
            return try GenuineNotification(
                try verifier.verifyNotification(stored.evidence.jws(), now: time), undated: stored.signedDate)
        } catch {
            logger.error(
                "a stored notification does not pass the verification of today",
                ["notification.uuid": .string(stored.uuid), "reason": .string(error.reason.rawValue)])
            return nil
        }
    }
}

extension NotificationRedriveRequested {
    /// UUIDs of one request at most; the command sends no more at once.
    static let mostUUIDs = 500
    /// Bytes of an actor's name or a type at most.
    private static let longestText = 200

    /// Whether PostgreSQL can keep its texts and it asks for no more than can be told at once.
    fileprivate var isStorable: Bool {
        notificationUUIDs.count <= Self.mostUUIDs && notificationTypes.count <= 100
            && ([actor] + notificationTypes + notificationUUIDs).allSatisfy {
                $0.utf8.count <= Self.longestText && !$0.utf8.contains(0)
            }
    }
}
