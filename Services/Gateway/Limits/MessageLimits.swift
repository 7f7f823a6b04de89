import HTTPServer
import Messages

/// Messages of sockets count in the same limits as requests: of their address first, then of their user.
struct MessageLimits: Sendable {
    /// Limits by address; the same that requests take from.
    var addresses = AddressLimits()
    /// Addresses that no address limit counts for.
    var unlimited = AddressList()
    /// The limit by user; nil = none.
    var users: RateLimiter?

    /// Takes a message of `client` at `path`; how long to wait if there have been too many.
    func take(_ client: IPAddress?, path: String) -> Duration? {
        guard let client, !unlimited.contains(client) else { return nil }
        return wait(addresses.take(client, path: path))
    }

    /// Takes a request or message of a user.
    func take(_ app: AppID, _ user: String) -> Duration? {
        users.flatMap { wait($0.take(BucketKey(app: app.rawValue, user: user))) }
    }

    private func wait(_ decision: TokenBuckets.Decision) -> Duration? {
        if case .refused(let wait) = decision { wait } else { nil }
    }
}
