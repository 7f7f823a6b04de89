public import JSON

/// What shall go wrong with a notification on its way.
public struct DeliveryPlan: Sendable, Equatable {
    /// The most copies of one notification.
    public static let copies: ClosedRange<Int64> = 0...20

    /// Posted this often more under the same UUID, whatever was answered.
    public var duplicates: Int64
    /// Told this often more under UUIDs of their own.
    public var retold: Int64
    /// Milliseconds before the first attempt.
    public var delay: Int64
    /// Posted only after the next notification of the app was, or after ``NotificationOutbox/longestHold``.
    public var isOutOfOrder: Bool
    /// Not posted at all; the history knows it.
    public var isNever: Bool
    /// Not even the history knows it: Apple forgot to tell.
    public var isLost: Bool

    /// Once, at once, unless said otherwise.
    public init(
        duplicates: Int64 = 0, retold: Int64 = 0, delay: Int64 = 0, isOutOfOrder: Bool = false, isNever: Bool = false,
        isLost: Bool = false
    ) {
        self.duplicates = duplicates
        self.retold = retold
        self.delay = delay
        self.isOutOfOrder = isOutOfOrder
        self.isNever = isNever
        self.isLost = isLost
    }

    /// The history alone knows it.
    public static let never = DeliveryPlan(isNever: true)

    /// Nobody ever hears of it.
    public static let lost = DeliveryPlan(isLost: true)

    /// Reads the member `notification` of a call; nil is the usual plan.
    public init(_ object: JSONObject?) throws(StoreError) {
        guard let object else {
            self.init()
            return
        }
        let known = ["duplicates", "retold", "delayMilliseconds", "outOfOrder", "never", "lost"]
        for key in object.keys where !known.contains(key) {
            throw .invalid(field: "notification", problem: "may have: " + known.joined(separator: ", "))
        }
        do throws(JSONError) {
            self.init(
                duplicates: try object.optionalInt64("duplicates", in: Self.copies) ?? 0,
                retold: try object.optionalInt64("retold", in: Self.copies) ?? 0,
                // A day: later than any test waits.
                delay: try object.optionalInt64("delayMilliseconds", in: 0...86_400_000) ?? 0,
                isOutOfOrder: try object.optionalBool("outOfOrder") ?? false,
                isNever: try object.optionalBool("never") ?? false,
                isLost: try object.optionalBool("lost") ?? false)
        } catch {
            throw .invalid(field: "notification.\(error.path)", problem: "has a wrong value (\(error.code))")
        }
    }

    /// The member `notification` of a call.
    public var json: JSONObject {
        [
            "duplicates": .integer(duplicates), "retold": .integer(retold), "delayMilliseconds": .integer(delay),
            "outOfOrder": .bool(isOutOfOrder), "never": .bool(isNever), "lost": .bool(isLost),
        ]
    }
}
