import HTTPServer

/// Which limit counts for a request of an address: by its path, since nothing else is known so early.
///
/// A surface whose callers are of another kind (servers of Apple, say, which are few addresses that send much) gets a
/// limit of its own here, so that neither uses up the other's.
struct AddressLimits: Sendable {
    /// The limit of some paths.
    struct Rule: Sendable {
        /// What the paths end with; the app's prefix, which is not known yet, stands in front.
        let pathSuffix: String
        /// Nil = no limit.
        let limiter: RateLimiter?
    }

    /// The first that fits counts.
    var rules: [Rule] = []
    /// For every other path, and for what has no readable path; nil = no limit.
    var others: RateLimiter?

    /// Takes a token for a request of `client`.
    func take(_ client: IPAddress, path: String?) -> TokenBuckets.Decision {
        let rule = path.flatMap { path in rules.first { path.hasSuffix($0.pathSuffix) } }
        let limiter = rule.map(\.limiter) ?? others
        return limiter?.take(BucketKey(client)) ?? .admitted
    }
}

extension AddressLimits {
    /// The limits of `settings`; `rules` are those of some paths.
    init(_ settings: LimitSettings, rules: [Rule] = []) {
        self.init(
            rules: rules, others: .ifLimited(perSecond: settings.addressRate, burst: settings.addressBurst))
    }
}
