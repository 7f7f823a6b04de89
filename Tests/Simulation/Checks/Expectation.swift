import Messages

@testable import Granting

/// What the end must be whatever the schedule was, read from the story alone.
enum Expectation {
    /// INV2: of each transaction the newest statement stays; and where effects commute, so are the balances.
    static func problems(_ world: World) -> [String] {
        var newest: [TransactionKey: VerifiedTransaction] = [:]
        var owners: [TransactionKey: UserID] = [:]
        for event in world.plan.story.events {
            guard let (statement, user) = event.action.statement else { continue }
            if newest[statement.key].map({ statement.isNewer(than: $0) }) ?? true { newest[statement.key] = statement }
            if let user { owners[statement.key] = user }
        }
        var problems: [String] = []
        for (key, statement) in newest {
            guard let stored = world.database.transactions.cells[key]?.committed?.purchase.statement else {
                problems.append("INV7: nothing is known of \(key)")
                continue
            }
            if (stored.signedDate, stored.revokedShare) != (statement.signedDate, statement.revokedShare) {
                problems.append("INV2: \(key) ends with a statement that is not its newest")
            }
        }
        return problems + (world.plan.story.commutes ? balanceProblems(world, newest, owners) : [])
    }

    /// Nobody spent anything, every purchase has one caller, every product is known at the end.
    private static func balanceProblems(
        _ world: World, _ newest: [TransactionKey: VerifiedTransaction], _ owners: [TransactionKey: UserID]
    ) -> [String] {
        var expected: [String: Int64] = [:]
        for (key, statement) in newest {
            guard let owner = owners[key] else { continue }
            for part in Story.amounts[statement.productID] ?? [] {
                let amount = part.amount * statement.quantity
                expected["\(owner) \(part.asset)", default: 0] +=
                    amount - Amounts.share(statement.revokedShare, of: amount)
            }
        }
        var balances: [String: Int64] = [:]
        for (key, cell) in world.database.accounts.cells {
            let owner = world.database.customers.committed.first { $0.id == key.customer }?.userID
            balances["\(owner?.rawValue ?? "") \(key.asset)"] = cell.committed?.balance
        }
        let names = Set(expected.keys).union(balances.keys)
        return names.filter { (expected[$0] ?? 0) != (balances[$0] ?? 0) }.map {
            "INV2: in this order \($0) ends at \(balances[$0] ?? 0), in another at \(expected[$0] ?? 0)"
        }
    }
}

extension Story.Action {
    /// What Apple signed, and who handed it in.
    var statement: (VerifiedTransaction, UserID?)? {
        switch self {
        case .buy(let statement, let user, _): (statement, user)
        case .tell(let notification): notification.transaction.map { ($0, nil) }
        case .order, .spend, .importCatalog: nil
        }
    }
}
