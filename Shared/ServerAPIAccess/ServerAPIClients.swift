public import AppStoreServerAPI
import HTTPClient
public import Messages
public import Runtime

/// A client of Apple's Server API for each app, environment and bundle id, opened when it is first needed. Belongs to one
/// thread.
public final class ServerAPIClients {
    /// Whose token is spoken with.
    public struct Place: Hashable, Sendable {
        /// The app.
        public let app: AppID
        /// Production or Sandbox.
        public let environment: StoreEnvironment
        /// The bundle id the token names.
        public let bundleID: String

        /// Composes the place.
        public init(app: AppID, environment: StoreEnvironment, bundleID: String) {
            self.app = app
            self.environment = environment
            self.bundleID = bundleID
        }
    }

    /// A client in a box: a dictionary cannot hold what cannot be copied.
    private final class Client {
        var api: AppStoreServerAPI
        init(_ api: consuming AppStoreServerAPI) { self.api = api }
    }

    /// The Sandbox allows a tenth of Production's rate.
    private static let sandboxPart = 0.1

    private var access: AppStoreAccess
    private let settings: ServerAPISettings
    private let callLimit: Duration
    private let patience: Duration?
    private let stop: StopSignal
    private var clients: [Place: Client] = [:]
    private var budgets: [Place: RateBudget] = [:]
    private var breakers: [Place: AuthorizationBreaker] = [:]

    /// Opens nothing yet.
    ///
    /// - Parameters:
    ///   - callLimit: one call at most.
    ///   - patience: how long a call may wait for the app's rate; nil: the client's own.
    ///   - stop: ends a wait for the rate.
    public init(
        _ access: AppStoreAccess, _ settings: ServerAPISettings, callLimit: Duration, patience: Duration? = nil,
        stop: StopSignal
    ) {
        self.access = access
        self.settings = settings
        self.callLimit = callLimit
        self.patience = patience
        self.stop = stop
    }

    /// What is known of an app's key; nil: there is no such app.
    public func entry(of app: AppID) -> AppStoreAccess.Entry? { access.entries[app] }

    /// From now on these keys are used, and nothing of the old ones. What Apple counts goes on.
    public func replace(_ access: AppStoreAccess) { (self.access, clients, breakers) = (access, [:], [:]) }

    /// Calls Apple for a place.
    ///
    /// - Throws: what the call throws, or that there is no key.
    public func call<Answer>(
        _ place: Place, _ body: (inout AppStoreServerAPI) throws(ServerAPIError) -> Answer
    ) throws(ServerAPIError) -> Answer {
        try body(&client(place).api)
    }

    private func client(_ place: Place) throws(ServerAPIError) -> Client {
        if let client = clients[place] { return client }
        guard case .key(let issuerID, let keyID, let key) = access.entries[place.app] else { throw .unusableKey }
        // Apple counts and refuses by app, whichever of its bundle ids is named.
        let shared = Place(app: place.app, environment: place.environment, bundleID: "")
        let isProduction = place.environment == .production
        let share = Double(settings.percent) / 100 * (isProduction ? 1 : Self.sandboxPart)
        let budget = budgets[shared] ?? RateBudget(share: share)
        let breaker = breakers[shared] ?? AuthorizationBreaker()
        (budgets[shared], breakers[shared]) = (budget, breaker)
        var configuration = AppStoreServerAPI.Configuration(
            baseURL: isProduction ? settings.production : settings.sandbox)
        configuration.http.timeout = callLimit
        if let patience { configuration.patience = patience }
        let client = Client(
            try AppStoreServerAPI.open(
                configuration,
                ServerAPICredentials(issuerID: issuerID, keyID: keyID, bundleID: place.bundleID, key: key),
                budget: budget, breaker: breaker, stop: stop))
        clients[place] = client
        return client
    }
}
