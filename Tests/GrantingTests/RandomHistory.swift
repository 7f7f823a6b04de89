import Messages
import TestSupport

/// A random history of one app: orders, purchases and their later statements, foreign callers, redeliveries, spends.
/// The same seed makes the same history.
struct RandomHistory {
    /// Something that happens, by one message.
    struct Step: Sendable {
        var cause: MessageID
        var event: Event
    }

    /// What happens.
    enum Event: Sendable {
        case order(number: OrderNumber, token: String, product: ProductID, user: String)
        case purchase(VerifiedTransaction, user: String?, order: OrderNumber?)
        case notification(VerifiedTransaction, AppleNotificationType)
        case spend(user: String, amount: Int64, id: String)
    }

    static let users = ["alice", "bob"]
    private var random: SeededGenerator
    private var count = 0
    private var orders: [(number: OrderNumber, token: String)] = []
    private(set) var steps: [Step] = []

    init(seed: UInt64, length: Int) {
        random = SeededGenerator(seed: seed)
        while steps.count < length { add() }
    }

    private mutating func add() {
        if !steps.isEmpty, chance(15), let again = steps.randomElement(using: &random) {
            steps.append(again)  // delivered again
            return
        }
        count += 1
        let kind = Int.random(in: 0..<100, using: &random)
        steps.append(Step(cause: Self.uuid(9, count), event: kind < 10 ? order() : kind < 70 ? purchase() : spend()))
    }

    private mutating func order() -> Event {
        let number = OrderNumber("IAP20260601\(count)")
        let token = Self.uuid(7, count).rawValue
        orders.append((number, token))
        let product = [Shop.coins60, Shop.bundle, Shop.minutes60].randomElement(using: &random) ?? Shop.coins60
        return .order(number: number, token: token, product: product, user: user())
    }

    /// A statement about one of a few transactions: what does not change about a transaction follows from its id.
    private mutating func purchase() -> Event {
        let id = Int.random(in: 1...16, using: &random)
        let isSandbox = id % 4 == 0
        let share = [nil, nil, nil, 25_000, 40_000, 100_000].randomElement(using: &random) ?? nil
        var statement = transaction(
            "20000000\(id)", id > 12 ? Shop.permanent : id % 3 == 0 ? Shop.bundle : Shop.coins60,
            environment: isSandbox ? .sandbox : .production,
            quantity: Int64(id % 2 + 1), signed: Int64.random(in: 0...6, using: &random),
            revoked: share.map { Int64($0) },
            hash: "0\(Int.random(in: 0...3, using: &random))")
        // One order's token for all statements about a transaction, though not every statement carries it.
        if id % 5 > 1, id < orders.count, chance(60) { statement.appAccountToken = orders[id].token }
        if id == 11 { statement.appAccountToken = "99999999-9999-4999-8999-999999999999" }
        if chance(20) {
            let types: [AppleNotificationType] =
                share == nil ? [.oneTimeCharge, .refundReversed, .refundDeclined] : [.refund]
            return .notification(statement, types.randomElement(using: &random) ?? .refund)
        }
        let named = chance(25) ? orders.randomElement(using: &random)?.number : nil
        return .purchase(
            statement, user: chance(75) ? user() : nil, order: chance(5) ? OrderNumber("IAP-unknown") : named)
    }

    private mutating func spend() -> Event {
        .spend(
            user: user(), amount: Int64.random(in: 1...90, using: &random),
            id: "session-\(Int.random(in: 1...40, using: &random))")
    }

    private mutating func user() -> String { Self.users.randomElement(using: &random) ?? "alice" }
    private mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }

    /// A UUID made of two numbers.
    static func uuid(_ kind: Int, _ number: Int) -> MessageID {
        let digits = String(number)
        return MessageID(
            "0000000\(kind)-0000-4000-8000-" + String(repeating: "0", count: 12 - digits.count) + digits)
    }
}
