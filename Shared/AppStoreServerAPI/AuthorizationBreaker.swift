import Synchronization

/// Stops calling while Apple answers 401: one wrong setting would otherwise burn every message's attempts.
///
/// Open after the first 401; after a pause one request is let through, and its answer decides. Shared by all threads
/// that call for one app in one environment.
public final class AuthorizationBreaker: Sendable {
    private struct State {
        /// Until when nothing is sent; nil while calls are answered.
        var openUntil: ContinuousClock.Instant?
        var pause = AuthorizationBreaker.firstPause
    }

    private let state = Mutex(State())

    static let firstPause = Duration.seconds(30)
    /// A setting is mended by a person; ten minutes later at most it is noticed.
    static let longestPause = Duration.seconds(600)

    /// A closed breaker.
    public init() {}

    /// Whether Apple refuses the credentials: for the gauge that alerts.
    public var isOpen: Bool { state.withLock { $0.openUntil != nil } }

    /// - Returns: nil if a request may be sent, else how long none will be. The one that is let through pushes the next
    ///   ones back by the pause.
    func pause(now: ContinuousClock.Instant) -> Duration? {
        state.withLock { state in
            guard let until = state.openUntil else { return nil }
            guard until <= now else { return now.duration(to: until) }
            state.openUntil = now + state.pause
            return nil
        }
    }

    func refused(now: ContinuousClock.Instant) {
        state.withLock { state in
            if state.openUntil != nil { state.pause = min(state.pause * 2, Self.longestPause) }
            state.openUntil = now + state.pause
        }
    }

    func accepted() {
        state.withLock { $0 = State() }
    }
}
