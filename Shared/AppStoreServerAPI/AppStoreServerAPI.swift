import Glibc
public import HTTPClient
import JSON
public import Runtime

/// A blocking client of the App Store Server API for one app in one environment, for one thread.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi.
public struct AppStoreServerAPI: ~Copyable {
    /// Where Apple is, and how it is asked.
    public struct Configuration: Sendable {
        /// The address before the path. A setting: Apple moved it once, and the simulator has another.
        public var baseURL: String
        /// Limits of one request. Apple's own libraries give up after 30 s and read at most 1 MiB.
        public var http: HTTPClient.Configuration
        /// How long a call may wait for the budget before it is given back to be tried later.
        public var patience: Duration = .milliseconds(250)

        /// Apple's address of an environment: https://api.storekit.apple.com or …-sandbox….
        public static func address(isProduction: Bool) -> String {
            isProduction ? "https://api.storekit.apple.com" : "https://api.storekit-sandbox.apple.com"
        }

        /// With Apple's libraries' limits.
        public init(baseURL: String) {
            self.baseURL = baseURL.hasSuffix("/") ? String(baseURL.dropLast()) : baseURL
            http = HTTPClient.Configuration()
            http.timeout = .seconds(30)
            http.maximumResponseBytes = 1 << 20
        }
    }

    private let configuration: Configuration
    private let credentials: ServerAPICredentials
    private let budget: RateBudget
    private let breaker: AuthorizationBreaker
    private let stop: StopSignal
    private let clock: @Sendable () -> Int64
    private var client: HTTPClient

    /// Opens a client; nothing is sent yet.
    ///
    /// - Parameters:
    ///   - budget: shared by all clients of this app and environment in this process; `breaker` likewise.
    ///   - stop: ends a wait for the budget.
    ///   - clock: milliseconds since 1970; given by tests.
    public static func open(
        _ configuration: Configuration, _ credentials: ServerAPICredentials, budget: RateBudget,
        breaker: AuthorizationBreaker, stop: StopSignal, clock: (@Sendable () -> Int64)? = nil
    ) throws(ServerAPIError) -> AppStoreServerAPI {
        do {
            return AppStoreServerAPI(
                configuration: configuration, credentials: credentials, budget: budget, breaker: breaker, stop: stop,
                clock: clock ?? Self.wallClock, client: try HTTPClient.open(configuration.http))
        } catch {
            throw .transport(error)
        }
    }

    /// Sends a call and returns the body of its answer, nil if that is empty.
    mutating func send(_ call: ServerAPICall) throws(ServerAPIError) -> JSONObject? {
        try waitForBudget(call.kind)
        if let pause = breaker.pause(now: .now) { throw .authorizationPaused(milliseconds: Self.milliseconds(pause)) }
        var headers = [
            ("User-Agent", "purser"), ("Authorization", "Bearer \(try credentials.token(now: clock() / 1_000))"),
            ("Accept", "application/json"),
        ]
        if call.body != nil { headers.append(("Content-Type", "application/json")) }
        let request = HTTPClientRequest(
            call.method, configuration.baseURL + call.path, headers: headers,
            // A POST without a body still has a length.
            body: call.body.map { JSONWriter.write($0) } ?? (call.method == "GET" ? nil : []))
        let response: HTTPClientResponse
        do {
            response = try client.send(request)
        } catch {
            throw .transport(error)
        }
        return try read(response)
    }

    /// The same, for calls that answer with something.
    mutating func ask(_ call: ServerAPICall) throws(ServerAPIError) -> JSONObject {
        guard let body = try send(call) else { throw .unreadable("it is empty") }
        return body
    }

    /// Waits for the budget as long as patience lasts.
    private func waitForBudget(_ kind: RateBudget.Class) throws(ServerAPIError) {
        let deadline = ContinuousClock.now + configuration.patience
        while let wait = budget.take(kind, now: .now) {
            guard ContinuousClock.now + wait <= deadline, !stop.wait(for: wait) else {
                throw .rateLimited(milliseconds: Self.milliseconds(wait))
            }
        }
    }

    private func read(_ response: HTTPClientResponse) throws(ServerAPIError) -> JSONObject? {
        switch response.status {
        case 200..<300:
            breaker.accepted()
            guard !response.body.isEmpty else { return nil }
            do {
                return try JSONReader.parseObject(response.body)
            } catch {
                throw .unreadable(error.code)
            }
        case 401:
            breaker.refused(now: .now)
            throw .unauthorized
        case 429:
            breaker.accepted()
            let pause = budget.exceeded(
                retryAfter: response.header("Retry-After"), wallClock: clock(), now: .now)
            throw .rateLimited(milliseconds: Self.milliseconds(pause))
        default:
            // A refusal of a server behind the one that checks the token says nothing about it; one with a code does.
            let code = Self.errorCode(response.body)
            if code != nil { breaker.accepted() }
            throw .refused(status: response.status, code: code)
        }
    }

    /// Apple's number, if the body holds one; a proxy's page or a cut answer does not.
    private static func errorCode(_ body: [UInt8]) -> ServerAPIErrorCode? {
        guard let object = try? JSONReader.parseObject(body), let number = object["errorCode"]?.intValue else {
            return nil
        }
        return ServerAPIErrorCode(rawValue: number)
    }

    private static func milliseconds(_ duration: Duration) -> Int64 {
        max(1, Int64((duration / .milliseconds(1)).rounded(.up)))
    }

    private static let wallClock: @Sendable () -> Int64 = {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        return Int64(now.tv_sec) * 1_000 + Int64(now.tv_nsec) / 1_000_000
    }
}
