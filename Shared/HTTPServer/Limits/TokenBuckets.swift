/// A token bucket for each of many clients, in a fixed amount of memory. A value: time comes from outside.
///
/// A bucket holds `burst` tokens and gets `perSecond` new ones; a request takes one. What is stored is the moment at which
/// the bucket will be full again (the "virtual scheduling" form of the algorithm, ITU-T I.371 A.1): one number a client,
/// no timer, no arithmetic with fractions.
///
/// **Memory.** The table has a fixed number of places in sets of eight. A key can only be in the eight places of its set,
/// so every decision looks at eight entries, whatever happens.
///
/// **Forgetting gives nobody anything.** A newcomer takes the place in its set that is full soonest, *together with what is
/// owed there*. Usually that bucket is full already, and nothing is forgotten: a full bucket and none are the same. If all
/// eight are in use the newcomer inherits the smallest debt. The moment stored in a place never goes back, and whoever is
/// pushed out had the earliest moment of its set; so whichever place it gets when it returns is at least as late as the
/// one it had. Being forgotten can make a decision stricter, never milder: nobody resets a bucket by filling the table. It
/// also follows that the table as a whole never lets through more than `capacity` buckets would.
///
/// The price: who comes first into a set with eight clients that are all over their limit has to wait with them. To do
/// that to strangers in general an attacker must keep all places busy, from as many networks (the hash that chooses sets
/// is secret), at the full rate each: far more than the rest of the service could take.
public struct TokenBuckets: Sendable {
    /// How much one client may do.
    public struct Rate: Sendable, Equatable {
        /// New tokens a second, 1…1,000,000.
        public let perSecond: Int
        /// Tokens in a full bucket: what may come at once after a pause; 1…1,000,000.
        public let burst: Int

        /// A rate; numbers out of range are moved into it.
        public init(perSecond: Int, burst: Int) {
            self.perSecond = min(max(perSecond, 1), 1_000_000)
            self.burst = min(max(burst, 1), 1_000_000)
        }
    }

    /// What is said to a request.
    public enum Decision: Sendable, Equatable {
        /// It may pass; a token was taken.
        case admitted
        /// It may not; after this time one of this client can pass. Nothing was taken.
        case refused(retryAfter: Duration)
    }

    private struct Place: Sendable {
        var key = BucketKey(high: 0, low: 0)
        /// When the bucket is full, in nanoseconds of the caller's clock.
        var fullAt = Int64.min
    }

    /// Places of a set.
    static let ways = 8
    /// Most clients that are remembered at a time.
    public let capacity: Int
    private var places: [Place]
    /// Nanoseconds between two tokens.
    private let interval: Int64
    /// How far from full a bucket may be and still hold a token.
    private let tolerance: Int64

    /// An empty table.
    /// - Parameter capacity: places of 24 bytes; rounded up to whole sets.
    public init(_ rate: Rate, capacity: Int) {
        let sets = max(1, (capacity + Self.ways - 1) / Self.ways)
        self.capacity = sets * Self.ways
        places = Array(repeating: Place(), count: sets * Self.ways)
        interval = 1_000_000_000 / Int64(rate.perSecond)
        tolerance = interval * Int64(rate.burst - 1)
    }

    /// Takes a token of `key` if there is one.
    /// - Parameter now: nanoseconds of a monotonic clock. Should it go back, nobody gains by it.
    public mutating func take(_ key: BucketKey, at now: Int64) -> Decision {
        let first = Int(key.low % UInt64(places.count / Self.ways)) * Self.ways
        var soonest = first
        for index in first..<(first + Self.ways) {
            if places[index].key == key { return take(from: index, at: now) }
            if places[index].fullAt < places[soonest].fullAt { soonest = index }
        }
        places[soonest].key = key
        return take(from: soonest, at: now)
    }

    private mutating func take(from index: Int, at now: Int64) -> Decision {
        let fullAt = max(places[index].fullAt, now)
        let wait = fullAt - now - tolerance
        guard wait <= 0 else { return .refused(retryAfter: .nanoseconds(wait)) }
        places[index].fullAt = fullAt + interval
        return .admitted
    }
}
