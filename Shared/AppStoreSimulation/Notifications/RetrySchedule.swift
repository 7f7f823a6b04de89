/// When Apple posts again what was not answered with 200 to 206.
///
/// Source: https://developer.apple.com/documentation/appstoreservernotifications/responding-to-app-store-server-notifications.
public struct RetrySchedule: Sendable, Equatable {
    /// Hours after the previous attempt: six attempts in all.
    static let hours: [Int64] = [1, 12, 24, 48, 72]
    private static let millisecondsPerHour: Int64 = 3_600_000

    /// How many times faster than Apple; 3,600 makes an hour a second.
    public let factor: Int64

    /// A schedule `factor` times faster than Apple's.
    public init(factor: Int64) { self.factor = max(1, factor) }

    /// Milliseconds until the next attempt after `attempts` of them; nil if that was the last. The Sandbox has one.
    public func wait(after attempts: Int, environment: String) -> Int64? {
        guard environment == "Production", attempts >= 1, attempts <= Self.hours.count else { return nil }
        return max(1, Self.hours[attempts - 1] * Self.millisecondsPerHour / factor)
    }
}
