import AppStoreServerAPI
import HTTPClient
import Messages
import Reloading
import Runtime

/// Where Apple is told. Belongs to one thread.
protocol AppStoreDoor: AnyObject {
    /// What keeps an app from being spoken for at all; nil: nothing.
    func obstacle(of app: AppID) -> ConsumptionReason?
    /// Tells Apple; blocks until it has answered.
    func send(_ answer: ConsumptionAnswer, for request: ConsumptionRequestRow) throws(ServerAPIError)
}

/// Apple's Server API: a client for each app and environment, opened when it is first needed.
final class ServerAPIDoor: AppStoreDoor {
    /// A client in a box: a dictionary cannot hold what cannot be copied.
    private final class Client {
        var api: AppStoreServerAPI
        init(_ api: consuming AppStoreServerAPI) { self.api = api }
    }

    /// Whose token is spoken with.
    private struct Place: Hashable {
        let app: AppID
        let environment: StoreEnvironment
        let bundleID: String
    }

    /// One call at most (s). A service has to end within ten seconds, and a call that took longer is made again.
    private static let callLimit = Duration.seconds(8)
    /// The Sandbox allows a tenth of Production's rate.
    private static let sandboxPart = 0.1

    private var access: AppStoreAccess
    private var follower: Follower<IntakeApps>
    private let settings: ServerAPISettings
    private let stop: StopSignal
    private var clients: [Place: Client] = [:]
    private var budgets: [Place: RateBudget] = [:]
    private var breakers: [Place: AuthorizationBreaker] = [:]

    init(_ apps: Live<IntakeApps>, _ settings: ServerAPISettings, stop: StopSignal) {
        follower = Follower(apps)
        access = apps.value.access
        self.settings = settings
        self.stop = stop
    }

    func obstacle(of app: AppID) -> ConsumptionReason? {
        // Asked before each answer: with new keys nothing of the old ones is used.
        if let apps = follower.changed() { (access, clients, breakers) = (apps.access, [:], [:]) }
        return switch access.entries[app] {
        case .key: nil
        case .some(.none): .noKey
        case nil: .unknownApp
        }
    }

    func send(_ answer: ConsumptionAnswer, for request: ConsumptionRequestRow) throws(ServerAPIError) {
        let client = try client(for: request)
        switch answer {
        case .current(let body): try client.api.sendConsumption(body, of: request.transactionID.rawValue)
        case .older(let body): try client.api.sendConsumption(body, of: request.transactionID.rawValue)
        }
    }

    private func client(for request: ConsumptionRequestRow) throws(ServerAPIError) -> Client {
        let place = Place(app: request.app, environment: request.environment, bundleID: request.bundleID)
        if let client = clients[place] { return client }
        guard case .key(let issuerID, let keyID, let key) = access.entries[request.app] else { throw .unusableKey }
        // Apple counts and refuses by app, whichever of its bundle ids is named.
        let shared = Place(app: request.app, environment: request.environment, bundleID: "")
        let isProduction = request.environment == .production
        let share = Double(settings.percent) / 100 * (isProduction ? 1 : Self.sandboxPart)
        let budget = budgets[shared] ?? RateBudget(share: share)
        let breaker = breakers[shared] ?? AuthorizationBreaker()
        (budgets[shared], breakers[shared]) = (budget, breaker)
        var configuration = AppStoreServerAPI.Configuration(
            baseURL: isProduction ? settings.production : settings.sandbox)
        configuration.http.timeout = Self.callLimit
        let client = Client(
            try AppStoreServerAPI.open(
                configuration,
                ServerAPICredentials(issuerID: issuerID, keyID: keyID, bundleID: request.bundleID, key: key),
                budget: budget, breaker: breaker, stop: stop))
        clients[place] = client
        return client
    }
}
