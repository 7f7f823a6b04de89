import AppStore
import AppStoreServerAPI
import Messages
import Observability
import Pipeline
import Postgres
import Reloading
import Runtime
import ServerAPIAccess
import Trust

/// Whom an operator's question about an order id is passed on to. Belongs to one thread; blocks until Apple has answered.
protocol OrderDoor: AnyObject {
    /// From now on these keys are used.
    func replace(_ access: AppStoreAccess)
    /// What was bought under an order id.
    func order(_ id: String, of place: ServerAPIClients.Place) throws(ServerAPIError) -> OrderLookup
}

/// Apple's Server API, with less patience than comparisons have: a person waits.
final class ServerAPIOrderDoor: OrderDoor {
    private let clients: ServerAPIClients

    init(_ access: AppStoreAccess, _ settings: ServerAPISettings, stop: StopSignal) {
        clients = ServerAPIClients(
            access, settings, callLimit: .seconds(4), patience: .seconds(2), stop: stop)
    }

    func replace(_ access: AppStoreAccess) { clients.replace(access) }

    func order(_ id: String, of place: ServerAPIClients.Place) throws(ServerAPIError) -> OrderLookup {
        try clients.call(place) { api throws(ServerAPIError) in try api.lookUpOrder(id) }
    }
}

/// Asks Apple what was bought under an order id (`reconciliation.lookups`), app by app. A lane of its own: a slow Apple
/// keeps nobody waiting but whoever asks the same. Changes nothing, and believes only what it has verified. Says nothing to
/// the database, so that no transaction is open meanwhile: BEGIN travels with the first statement.
struct AnswerOrderLookups: Handler {
    private let door: any OrderDoor
    private var follower: Follower<FollowedApps>?
    private var places: [ServerAPIClients.Place]
    private let trust: @Sendable () -> TrustSettings?
    private var verifier: SignedDataVerifier?
    private let now: @Sendable () -> Int64

    /// After this no further app is asked: with the last call it is ten seconds. A lane that handles a message says nothing
    /// to the broker, which gives up whoever is silent for twenty, and a service has ten to end.
    private static let patience = Duration.seconds(4)

    /// - Parameter trust: whom to believe, read anew when the apps change; nil: nobody.
    init(
        door: any OrderDoor, places: [ServerAPIClients.Place], follower: Follower<FollowedApps>? = nil,
        trust: @escaping @Sendable () -> TrustSettings?,
        now: @escaping @Sendable () -> Int64 = { WallClock.milliseconds }
    ) {
        self.door = door
        self.follower = follower
        self.trust = trust
        self.now = now
        self.places = Self.production(places)
        verifier = try? trust()?.verifier()
    }

    /// Apple answers for Production alone.
    private static func production(_ places: [ServerAPIClients.Place]) -> [ServerAPIClients.Place] {
        places.filter { $0.environment == .production }
    }

    mutating func handle(_ batch: [Incoming], in transaction: inout Transaction) throws -> [Outcome] {
        if let changed = follower?.changed() {
            places = Self.production(changed.places)
            door.replace(changed.access)
            verifier = try? trust()?.verifier()
        }
        return try batch.map { incoming in
            guard let question = incoming.read(AppleOrderRequested.self) else {
                return .park(reason: Incoming.unreadable)
            }
            return .done(facts: [], reply: try Reply(look(for: question.orderID)))
        }
    }

    /// Until an app has it: an order is one app's.
    private mutating func look(for orderID: String) -> AppleOrderAnswered {
        var answer = AppleOrderAnswered(purchases: [], asked: 0, problems: [], unverified: 0)
        let deadline = ContinuousClock.now + Self.patience
        for place in places {
            guard ContinuousClock.now < deadline else {
                answer.problems.append(
                    .init(place, "server_api.not_asked", "not asked, Apple was slow for the others: ask again"))
                continue
            }
            do throws(ServerAPIError) {
                let found = try door.order(orderID, of: place)
                answer.asked += 1
                guard found.isValid else { continue }
                for signed in found.signedTransactions { take(signed, into: &answer) }
                break
            } catch {
                answer.problems.append(.init(place, error.code, "\(error)"))
            }
        }
        return answer
    }

    private mutating func take(_ signed: String, into answer: inout AppleOrderAnswered) {
        guard case .verified(let verified) = try? verifier?.verifyTransaction(Array(signed.utf8), now: now()),
            let app = verified.appID, let id = verified.payload.transactionID
        else {
            answer.unverified += 1
            return
        }
        answer.purchases.append(
            .init(
                app: AppID(app), environment: verified.environment == .production ? .production : .sandbox,
                transactionID: TransactionID(id)))
    }
}

extension AppleOrderAnswered.Problem {
    fileprivate init(_ place: ServerAPIClients.Place, _ code: String, _ description: String) {
        self.init(app: place.app, bundleID: place.bundleID, code: code, description: description)
    }
}
