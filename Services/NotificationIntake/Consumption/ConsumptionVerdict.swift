import AppStoreServerAPI

/// What follows from Apple's answer, or from there being none.
///
/// Apple's own numbers decide between now and never (error-codes of the App Store Server API); what no number of Apple's
/// came with was said by somebody on the way, and is tried again.
enum ConsumptionVerdict: Sendable, Equatable {
    /// Told.
    case accepted
    /// Apple will never take it.
    case refused
    /// Tried again, not before `pause` milliseconds have passed. What concerns the app as a whole keeps its other requests
    /// back, too.
    case later(ConsumptionReason, pause: Int64, concernsApp: Bool)

    /// How long the other requests of an app wait after the first 401. The client's breaker says how long then.
    static let firstPause: Int64 = 30_000

    /// What follows from a failed call.
    init(_ error: ServerAPIError) {
        switch error {
        case .invalidArgument: self = .refused
        case .unusableKey: self = .later(.noKey, pause: 0, concernsApp: false)
        case .unauthorized: self = .later(.unauthorized, pause: Self.firstPause, concernsApp: true)
        case .authorizationPaused(let milliseconds):
            self = .later(.unauthorized, pause: milliseconds, concernsApp: true)
        case .rateLimited(let milliseconds): self = .later(.rateLimited, pause: milliseconds, concernsApp: true)
        case .refused(_, let code):
            self = code.map { !$0.isRetryable } ?? false ? .refused : .later(.unavailable, pause: 0, concernsApp: false)
        case .unreadable, .transport: self = .later(.unavailable, pause: 0, concernsApp: false)
        }
    }
}
