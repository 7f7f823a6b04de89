import Messages
import TestSupport

@testable import Granting

/// What Apple and a client may tell of one purchase, each with its own date of signature, in any order.
struct NotificationStory: Sendable {
    /// Who tells it.
    enum Event: Int, CaseIterable, Sendable {
        case purchase, oneTimeCharge, refund40, refund100, reversal, secondRefund
    }

    /// Whether the purchase carries the token of an order.
    var hasToken = true
    /// The share of the second refund.
    var last: Int64 = 30_000
    /// The purchase.
    var id = "1"
    /// The order's token.
    var token = Shop.aliceToken

    /// The statement of an event.
    func statement(_ event: Event) -> VerifiedTransaction {
        let share: Int64? =
            switch event {
            case .purchase, .oneTimeCharge, .reversal: nil
            case .refund40: 40_000
            case .refund100: 100_000
            case .secondRefund: last
            }
        return transaction(
            id, token: hasToken ? token : nil, signed: Int64(event.rawValue), revoked: share, hash: "0\(event.rawValue)"
        )
    }

    /// The notification of an event; nil for the client's.
    func type(_ event: Event) -> AppleNotificationType? {
        switch event {
        case .purchase: nil
        case .oneTimeCharge: .oneTimeCharge
        case .refund40, .refund100, .secondRefund: .refund
        case .reversal: .refundReversed
        }
    }

    /// Tells an event to books in memory.
    func tell(_ event: Event, to shop: inout Shop) -> PurchaseDecision {
        guard let type = type(event) else {
            return shop.submit(statement(event), by: Shop.alice, order: hasToken ? OrderNumber("A\(id)") : nil)
        }
        return shop.notify(type, statement(event))
    }

    /// The share that is revoked at the end.
    func share(_ events: [Event]) -> Int64 {
        events.max { $0.rawValue < $1.rawValue }.map { statement($0).revokedShare } ?? 0
    }

    /// Whether anybody may be granted it: refunds alone grant nothing.
    func isGranted(_ events: [Event]) -> Bool {
        events.contains(.purchase) || (hasToken && events.contains { $0 == .oneTimeCharge || $0 == .reversal })
    }
}

/// Every order of some items.
func permutations<Item>(_ items: [Item]) -> [[Item]] {
    guard items.count > 1 else { return [items] }
    return items.indices.flatMap { index in
        var rest = items
        let first = rest.remove(at: index)
        return permutations(rest).map { [first] + $0 }
    }
}

/// Every set of some items but the empty one.
func subsets<Item>(_ items: [Item]) -> [[Item]] {
    (1..<(1 << items.count)).map { bits in items.indices.filter { bits & (1 << $0) != 0 }.map { items[$0] } }
}
