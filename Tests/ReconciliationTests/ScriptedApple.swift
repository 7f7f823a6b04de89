import JOSE
import JSON
import Messages
import Pipeline
import ServerAPIAccess
import Synchronization

@testable import AppStoreServerAPI
@testable import Reconciliation

/// Apple's history, as a test has it. Notifications are signed by nobody: what is compared is only read.
final class ScriptedApple: AppleDoor {
    /// A notification in it.
    struct Told {
        var uuid: Int
        var type = "REFUND"
        var transaction: Int
        var signedAt: Int64
    }

    /// A refund in an account's list.
    struct Refunded {
        var transaction: Int
        var at: Int64
        var share: Int64 = 100_000
    }

    /// Of one page.
    static let pageSize = 2
    static let place = ServerAPIClients.Place(
        app: AppID("game"), environment: .production, bundleID: "com.example.game")

    var told: [Told] = []
    /// What goes wrong with the next calls, first come first.
    var faults: [ServerAPIError] = []
    /// Start, end and token of each call.
    var asked: [(from: Int64, to: Int64, token: String?)] = []

    /// What was refunded to the buyer of a purchase, in the order it was. Apple signs it whenever it is asked, at
    /// ``signsAt``.
    var refunded: [Int: [Refunded]] = [:]
    var signsAt: Int64 = 0
    /// What goes wrong with the next questions about refunds.
    var refundFaults: [ServerAPIError] = []
    /// Purchase and revision of each of them.
    var askedRefunds: [String] = []

    func replace(_ access: AppStoreAccess) {}

    func refunds(
        _ place: ServerAPIClients.Place, of transaction: TransactionID, revision: String?
    ) throws(ServerAPIError) -> TransactionPage {
        askedRefunds.append("\(transaction) \(revision ?? "-")")
        if !refundFaults.isEmpty { throw refundFaults.removeFirst() }
        let all = refunded[Int(transaction.rawValue) ?? 0] ?? []
        let first = revision.flatMap { Int($0.dropFirst()) } ?? 0
        let page = all.dropFirst(first).prefix(Self.pageSize)
        let end = first + page.count
        let object: JSONObject = [
            "signedTransactions": .array(page.map { .string(Self.jws(signed($0))) }),
            "hasMore": .bool(end < all.count), "revision": .string("r\(end)"),
        ]
        guard let answer = try? TransactionPage(object) else { throw .unreadable("the test's page") }
        return answer
    }

    private func signed(_ refund: Refunded) -> JSONObject {
        [
            "transactionId": .string(String(refund.transaction)), "environment": "Production",
            "bundleId": .string(Self.place.bundleID), "purchaseDate": .integer(refund.at - 1_000),
            "signedDate": .integer(signsAt), "revocationDate": .integer(refund.at),
            "revocationPercentage": .integer(refund.share),
        ]
    }

    func notifications(
        _ place: ServerAPIClients.Place, _ query: NotificationHistoryQuery, token: String?
    ) throws(ServerAPIError) -> NotificationPage {
        asked.append((query.startDate, query.endDate, token))
        if !faults.isEmpty { throw faults.removeFirst() }
        let all = told.filter { $0.signedAt >= query.startDate && $0.signedAt <= query.endDate }
            .sorted { $0.signedAt < $1.signedAt }
        let first = token.flatMap { Int($0) } ?? 0
        let page = all.dropFirst(first).prefix(Self.pageSize)
        let hasMore = first + page.count < all.count
        var object: JSONObject = [
            "notificationHistory": .array(page.map { ["signedPayload": .string(Self.payload($0))] }),
            "hasMore": .bool(hasMore),
        ]
        if hasMore { object.set("paginationToken", .string(String(first + page.count))) }
        guard let answer = try? NotificationPage(object) else { throw .unreadable("the test's page") }
        return answer
    }

    /// A notification's UUID.
    static func uuid(_ number: Int) -> String {
        let digits = String(number)
        return "002e14d5-51f5-4503-b5a8-" + String(repeating: "0", count: 12 - digits.count) + digits
    }

    /// A notification's key.
    static func key(_ number: Int) -> NotificationKey {
        NotificationKey(environment: .production, notificationUUID: uuid(number))
    }

    private static func payload(_ told: Told) -> String {
        let inner: JSONObject = [
            "transactionId": .string(String(told.transaction)), "environment": "Production",
            "signedDate": .integer(told.signedAt - 10), "revocationDate": .integer(told.signedAt - 20),
        ]
        return jws([
            "notificationType": .string(told.type), "notificationUUID": .string(uuid(told.uuid).uppercased()),
            "signedDate": .integer(told.signedAt),
            "data": ["environment": "Production", "signedTransactionInfo": .string(jws(inner))],
        ])
    }

    /// A text of a JWS's shape.
    static func jws(_ object: JSONObject) -> String {
        let parts = [#"{"alg":"ES256"}"#, String(decoding: JSONWriter.write(object), as: UTF8.self), "signature"]
        return parts.map { String(decoding: Base64URL.encode(Array($0.utf8)) as [UInt8], as: UTF8.self) }.joined(
            separator: ".")
    }
}

/// Intake and Granting, as a test has them.
final class ScriptedBooks: AppleSources {
    /// What they have.
    struct Script: Sendable {
        var stored: [NotificationKey: Int64] = [:]
        var states: [PurchaseKey: PurchaseState] = [:]
        /// Whether nobody answers.
        var isSilent = false
        /// Whether the broker takes nothing.
        var takesNothing = false
        /// What was handed in: how, and what.
        var handedIn: [String] = []
    }

    let script = Mutex(Script())

    func notificationStates(of keys: [NotificationKey]) throws -> [NotificationState] {
        try script.withLock { script in
            if script.isSilent { throw RequestError.timedOut }
            return keys.map { NotificationState(key: $0, storedAt: script.stored[$0]) }
        }
    }

    func states(of keys: [PurchaseKey]) throws -> [PurchaseState] {
        try script.withLock { script in
            if script.isSilent { throw RequestError.timedOut }
            return keys.map { script.states[$0] ?? PurchaseState(key: $0, outcome: .unknown) }
        }
    }

    func handIn(_ feed: AppleFeed, as remedy: AppleFeed.Remedy) throws {
        try script.withLock { script in
            if script.takesNothing { throw RequestError.timedOut }
            script.handedIn.append("\(remedy) \(feed.subject)")
        }
    }

    /// What was handed in since the last look.
    func taken() -> [String] {
        script.withLock { script in
            defer { script.handedIn = [] }
            return script.handedIn
        }
    }

    /// Intake has a notification since then.
    func store(_ number: Int, at time: Int64) { script.withLock { $0.stored[ScriptedApple.key(number)] = time } }

    /// Granting's newest statement of a purchase was signed then.
    func know(_ transaction: Int, signedAt time: Int64, share: Int64 = 100_000) {
        let key = PurchaseKey(environment: .production, transactionID: TransactionID(String(transaction)))
        var state = PurchaseState(key: key, outcome: share == 100_000 ? .refunded : .granted)
        (state.signedDate, state.revokedShare) = (time, share)
        script.withLock { [state] in $0.states[key] = state }
    }
}
