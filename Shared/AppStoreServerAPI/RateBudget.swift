import Synchronization

/// Apple's limit on calls of one app in one environment, shared by every thread that calls.
///
/// A token bucket for each of Apple's classes of endpoints. Each process gets a share of the documented rate, so that
/// several services and several copies stay below it together. After a 429 nothing is sent until Apple's time has come.
/// Source: https://developer.apple.com/documentation/appstoreserverapi/identifying-rate-limits.
public final class RateBudget: Sendable {
    /// Endpoints that have one limit together.
    public enum Class: Hashable, Sendable, CaseIterable {
        /// Transactions, history, statuses, consumption, notification history.
        case ordinary
        /// Extension of one subscription, app account tokens.
        case extending
        /// Refund history and look up of orders.
        case lookup
        /// Test notifications.
        case testing

        /// Documented requests a second in Production.
        var perSecond: Double {
            switch self {
            case .ordinary: 50
            case .extending: 20
            case .lookup: 10
            case .testing: 1
            }
        }
    }

    private struct Bucket {
        var tokens: Double
        var at: ContinuousClock.Instant
    }

    private struct State {
        var buckets: [Class: Bucket] = [:]
        var pausedUntil: ContinuousClock.Instant?
    }

    private let share: Double
    private let state = Mutex(State())

    /// The longest pause taken on trust: a wrong header must not stop the calls for ever.
    static let longestPause = Duration.seconds(3_600)
    /// After a 429 without a usable header.
    static let usualPause = Duration.seconds(60)

    /// A budget of `share` of Apple's rate (0 < share ≤ 1). The Sandbox allows a tenth: give it a tenth of the share.
    public init(share: Double = 1) { self.share = min(max(share, 0.001), 1) }

    /// Takes one request from the budget.
    ///
    /// - Returns: nil if it may be sent now, else how long to wait before asking again.
    func take(_ kind: Class, now: ContinuousClock.Instant) -> Duration? {
        state.withLock { state in
            if let until = state.pausedUntil {
                guard until <= now else { return now.duration(to: until) }
                state.pausedUntil = nil
            }
            let rate = kind.perSecond * share
            // A second's worth, but at least one request.
            let capacity = max(1, rate)
            var bucket = state.buckets[kind] ?? Bucket(tokens: capacity, at: now)
            bucket.tokens = min(capacity, bucket.tokens + bucket.at.duration(to: now) / .seconds(1) * rate)
            bucket.at = now
            defer { state.buckets[kind] = bucket }
            guard bucket.tokens >= 1 else { return .seconds((1 - bucket.tokens) / rate) }
            bucket.tokens -= 1
            return nil
        }
    }

    /// Apple said 429. `retryAfter` is its header: the UNIX time in **milliseconds**, not a number of seconds to wait.
    ///
    /// - Returns: how long nothing will be sent.
    func exceeded(retryAfter: String?, wallClock: Int64, now: ContinuousClock.Instant) -> Duration {
        let wait: Duration =
            if let moment = retryAfter.flatMap({ Int64($0) }), moment > wallClock {
                .milliseconds(min(moment - wallClock, Int64(Self.longestPause / .milliseconds(1))))
            } else {
                Self.usualPause
            }
        return state.withLock { state in
            let until = max(state.pausedUntil ?? now, now + wait)
            state.pausedUntil = until
            return now.duration(to: until)
        }
    }
}
