import Messages
import Pipeline
import Postgres

/// Takes erased users out of what was handed in (`verification.commands`): out of facts, evidence, receipts, quarantine.
///
/// First the user is put on record, so that what they sent before and is verified later has no user. Then, once every
/// lane knows that, all facts up to now are looked through, a bounded number a message: they tell who handed in what,
/// and no index is paid for on the way of every purchase. Lives on its lane's thread.
struct EraseUsers: Handler {
    /// How long after the record everything is looked through (ms): lanes know of it after
    /// ``ErasedUsers/maximumAge``, and what they had begun before has ended, each statement being limited to 5 s.
    static let settling: Int64 = 25_000
    /// Facts of one message: about 10 µs each.
    static let page: Int64 = 50_000
    /// Names of one person at most.
    private static let mostNames = 100

    private let settling: Int64
    private let page: Int64
    private let now: @Sendable () -> Int64

    init(
        settling: Int64 = Self.settling, page: Int64 = Self.page,
        now: @escaping @Sendable () -> Int64 = { WallClock.milliseconds }
    ) {
        self.settling = settling
        self.page = page
        self.now = now
    }

    mutating func handle(_ batch: [Incoming], in transaction: inout Transaction) throws -> [Outcome] {
        var outcomes: [Outcome] = []
        for incoming in batch {
            if let request = incoming.read(UserEraseRequested.self), Self.isUsable(request) {
                outcomes.append(try begin(request, incoming.header, &transaction))
            } else if let request = incoming.read(EvidenceEraseRequested.self) {
                outcomes.append(try goOn(request, incoming.header, &transaction))
            } else {
                outcomes.append(.park(reason: Incoming.unreadable))
            }
        }
        return outcomes
    }

    /// The name is on record; later, the looking through begins.
    private func begin(
        _ request: UserEraseRequested, _ header: MessageHeader, _ transaction: inout Transaction
    ) throws -> Outcome {
        let users = [request.userID] + request.formerIDs
        try ErasureTable.insert(users, of: request.app, message: header.id, at: now(), in: &transaction)
        guard let erasure = try ErasureTable.lock(header.id, in: &transaction), !erasure.isDone else {
            return .done(facts: [], reply: nil)
        }
        guard now() - erasure.until >= settling else {
            return .retry(after: .seconds30, reason: "erasure.settling", isOutage: false, reply: nil)
        }
        let last = try ErasureTable.lastFact(in: &transaction)
        return .done(facts: [try goingOn(header.id, 0, last, request.app, header)], reply: nil)
    }

    private func goOn(
        _ request: EvidenceEraseRequested, _ header: MessageHeader, _ transaction: inout Transaction
    ) throws -> Outcome {
        guard let erasure = try ErasureTable.lock(request.erasure, in: &transaction), !erasure.isDone else {
            return .done(facts: [], reply: nil)
        }
        let (next, overflow) = max(request.after, 0).addingReportingOverflow(page)
        let end = overflow ? request.last : min(request.last, next)
        try ErasureTable.erase(erasure, of: request.erasure, after: request.after, upTo: end, in: &transaction)
        guard end < request.last else {
            try ErasureTable.finish(erasure, of: request.erasure, in: &transaction)
            return .done(facts: [], reply: nil)
        }
        return .done(facts: [try goingOn(request.erasure, end, request.last, erasure.app, header)], reply: nil)
    }

    private func goingOn(
        _ erasure: MessageID, _ after: Int64, _ last: Int64, _ app: AppID, _ header: MessageHeader
    ) throws -> Fact {
        try Fact(
            EvidenceEraseRequested(erasure: erasure, after: after, last: last), key: erasure.rawValue, revision: after,
            app: app, environment: nil, causedBy: header, occurredAt: now())
    }

    private static func isUsable(_ request: UserEraseRequested) -> Bool {
        request.formerIDs.count < mostNames
            && ([request.userID] + request.formerIDs).allSatisfy {
                !$0.rawValue.isEmpty && $0.rawValue.utf8.count <= 200
            }
    }
}
