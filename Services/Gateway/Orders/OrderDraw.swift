import Messages
import Pipeline

/// What the gateway draws for a new order: nothing of it can be guessed.
struct OrderDraw: Sendable {
    /// `IAP`, the UTC date, twelve random digits.
    let orderNumber: OrderNumber
    /// A random UUID (version 4), lower case.
    let appAccountToken: String

    /// Twelve digits: on a day with a million orders, the chance that any number of it repeats is 40 %. The database
    /// refuses the second one, and the client asks for another.
    private static let numbers: UInt64 = 1_000_000_000_000

    /// Draws from the system's generator, which is getrandom(2) on Linux.
    /// - Parameter now: milliseconds since 1970.
    init(now: Int64) {
        var generator = SystemRandomNumberGenerator()
        let digits = String(UInt64.random(in: 0..<Self.numbers, using: &generator))
        let padding = String(repeating: "0", count: 12 - digits.utf8.count)
        orderNumber = OrderNumber("IAP" + RFC3339.compactDate(now) + padding + digits)
        appAccountToken = UUIDText.random()
    }
}
