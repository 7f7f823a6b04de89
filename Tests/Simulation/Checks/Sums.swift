import Messages
import Pipeline

@testable import Granting

/// The books' sums over committed rows.
enum Sums {
    /// INV3, INV4, INV5: Σ ledger = balance = Σ lots, every lot's draws, every refund's target, every line's cause.
    static func problems(_ database: Database) -> [String] {
        var problems: [String] = []
        var ledger: [AccountKey: Int64] = [:]
        for line in database.ledger.committed {
            ledger[line.account, default: 0] += line.direction == .into ? line.amount : -line.amount
            if ledger[line.account] != line.balanceAfter {
                problems.append(
                    "INV3: after \(line.sourceID) the ledger says \(line.balanceAfter), its sum \(ledger[line.account] ?? 0)"
                )
            }
        }
        var left: [AccountKey: Int64] = [:]
        var drawn: [LotKey: Int64] = [:]
        var refunded: [LotKey: Int64] = [:]
        for draw in database.draws.committed {
            drawn[draw.lot, default: 0] += draw.amount
            if let purchase = draw.refunded {
                refunded[LotKey(purchase: purchase, asset: draw.lot.asset), default: 0] += draw.amount
            }
        }
        for row in database.lots.committed {
            let lot = row.lot
            left[lot.account, default: 0] += lot.remaining
            if lot.amount - lot.remaining != drawn[lot.key] ?? 0 {
                problems.append("INV3: draws of \(lot.key.purchase)")
            }
            guard let grant = database.grants.cells[lot.key.purchase]?.committed else {
                problems.append("INV5: a lot without a grant")
                continue
            }
            let owed = database.debts.cells[lot.key]?.committed?.open ?? 0
            if (refunded[lot.key] ?? 0) + owed != Amounts.share(grant.appliedShare, of: lot.amount) {
                problems.append("INV3: what \(lot.key.purchase) took back and is owed is not its target")
            }
        }
        for (key, cell) in database.accounts.cells {
            guard let account = cell.committed else { continue }
            if account.balance < 0 { problems.append("INV4: a balance is negative") }
            if account.balance != ledger[key] ?? 0 {
                problems.append("INV3: balance and ledger of \(key.asset) differ")
            }
            if account.balance != left[key] ?? 0 { problems.append("INV3: balance and lots of \(key.asset) differ") }
        }
        return problems
    }

    /// INV5, INV6: each grant, revision and spend has exactly its fact, and its lines in the ledger.
    static func factProblems(_ database: Database) -> [String] {
        var problems: [String] = []
        var counts: [String: Int] = [:]
        for row in database.facts.committed {
            counts["\(row.fact.type) \(row.fact.key) \(row.fact.revision)", default: 0] += 1
        }
        var lines: [String: Int] = [:]
        for line in database.ledger.committed {
            lines[
                "\(line.source) \(line.environment?.rawValue ?? "") \(line.account.customer) \(line.sourceID)",
                default: 0] += 1
        }
        for grant in database.grants.committed {
            if counts["\(MessageType.purchaseGranted) \(grant.key) 0"] != 1 {
                problems.append("INV6: not one fact of a grant")
            }
            for revision in 1..<(grant.revision + 1)
            where counts["\(MessageType.purchaseClawedBack) \(grant.key) \(revision)"] != 1 {
                problems.append("INV6: not one fact of a refund")
            }
            let parts = database.lots.committed.filter { $0.lot.key.purchase == grant.key }.count
            let line =
                "\(LedgerRow.Source.purchase) \(grant.key.environment.rawValue) \(grant.customer) \(grant.key.transactionID)/0"
            if lines[line] != parts { problems.append("INV5: not one line for each part of a grant") }
        }
        for spend in database.spends.committed {
            if counts["\(MessageType.spendDecided) \(spend.key.customer)/\(spend.key.sourceID) 0"] != 1 {
                problems.append("INV6: not one fact of a spend")
            }
            let line = "\(LedgerRow.Source.usage)  \(spend.key.customer) \(spend.key.sourceID)"
            if (lines[line] ?? 0) != (spend.outcome == .spent ? 1 : 0) { problems.append("INV5: lines of a spend") }
        }
        return problems
    }
}
