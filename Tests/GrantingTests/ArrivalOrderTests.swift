import Messages
import Testing

@testable import Granting

@Suite struct ArrivalOrderTests {
    /// What must not depend on the order in which Apple's events arrive.
    struct EndState: Equatable {
        var balance: Int64
        var debt: Int64
        var owner: CustomerID?
        var share: Int64
        var remaining: Int64
    }

    private static func permutations(_ items: [Int]) -> [[Int]] {
        guard items.count > 1 else { return [items] }
        return items.indices.flatMap { index in
            var rest = items
            let first = rest.remove(at: index)
            return permutations(rest).map { [first] + $0 }
        }
    }

    private static func endState(_ shop: Shop) -> EndState {
        let key = transaction("1").key
        let lot = LotKey(purchase: key, asset: Shop.coins)
        return EndState(
            balance: shop.balance(), debt: shop.books.debts[lot]?.open ?? 0, owner: shop.books.purchases[key]?.owner,
            share: shop.books.purchases[key]?.statement.revokedShare ?? -1,
            remaining: shop.books.lots[lot]?.remaining ?? 0)
    }

    /// Each event and who brings it: the client hands in the purchase, Apple's feeds bring the rest.
    private static let events: [(VerifiedTransaction, CustomerID?)] = [
        (transaction("1"), Shop.alice), (transaction("1", signed: 1, revoked: 40_000), nil),
        (transaction("1", signed: 2, revoked: 100_000), nil), (transaction("1", signed: 3), nil),
    ]

    @Test(arguments: [[0, 1], [0, 1, 2], [0, 1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 1, 2, 3]])
    func `every order of arrival ends in the same state (R07 BR18)`(chosen: [Int]) throws {
        var states: [EndState] = []
        for order in Self.permutations(chosen) {
            var shop = Shop()
            for index in order { _ = shop.submit(Self.events[index].0, by: Self.events[index].1) }
            #expect(shop.books.imbalances == [])
            states.append(Self.endState(shop))
        }
        let first = try #require(states.first)
        #expect(first.owner == Shop.alice)
        #expect(states.allSatisfy { $0 == first }, "\(states)")
    }

    @Test func `with a token no order of arrival needs the client`() throws {
        var states: [EndState] = []
        for order in Self.permutations([0, 1, 2, 3]) {
            var shop = Shop()
            _ = shop.order("A1")
            for index in order {
                var statement = Self.events[index].0
                statement.appAccountToken = Shop.aliceToken
                _ = shop.submit(statement, by: nil)
            }
            states.append(Self.endState(shop))
        }
        #expect(Set(states.map(\.balance)) == [60])
        #expect(states.allSatisfy { $0.owner == Shop.alice })
    }
}
