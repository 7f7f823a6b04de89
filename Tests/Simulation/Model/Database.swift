import Messages
import Pipeline

@testable import Granting

/// A model of PostgreSQL as Granting uses it: read committed, row locks that are waited for, unique constraints,
/// savepoints, an advisory lock. Statements are run one by one, and one that has to wait says for whom.
final class Database {
    /// A purchase's row.
    struct TransactionRow {
        var purchase: Purchase
        var redrivenVersion: Int64 = 0
        /// Its place in the order of insertion.
        var place: Int
    }

    /// A lot's row.
    struct LotRow {
        var id: Int64
        var lot: Lot
    }

    /// A fact's row.
    struct FactRow {
        var sequence: Int
        var fact: Fact
    }

    /// A batch whose facts may not have been published yet.
    struct Unannounced {
        var id: Int64
        var facts: [MessageID]
        var createdAt: Int64
    }

    /// A catalogue that came into force.
    struct CatalogRow {
        var entry: CatalogTables.Entry
        var importedAt: Int64
    }

    var customers = Table<UserKey, Customer>()
    var tokens = Table<TokenKey, IssuedToken>()
    var orders = Table<OrderNumber, Order>()
    var transactions = Table<TransactionKey, TransactionRow>()
    var grants = Table<TransactionKey, Grant>()
    var accounts = Table<AccountKey, Account>()
    var lots = Table<LotKey, LotRow>()
    var debts = Table<LotKey, Debt>()
    var spends = Table<SpendKey, Spend>()
    var draws = Journal<Draw>()
    var ledger = Journal<LedgerRow>()
    var catalogs = Journal<CatalogRow>()
    var facts = Table<MessageID, FactRow>()
    var unannounced = Table<Int64, Unannounced>()

    /// The time (ms since 1970), advanced by the world.
    var now: Int64
    let mutation: Mutation?
    /// The first rule that was broken.
    private(set) var violation: String?

    private(set) var open: [Int: OpenTransaction] = [:]
    private var transactionCount = 0
    /// How many transactions have committed.
    private(set) var commitCount = 0
    private var sequence = 0
    /// Who holds or waits for the catalogue lock exclusively.
    var exclusive = 0
    var exclusiveWaiter = 0
    private var dice: Dice

    init(now: Int64, mutation: Mutation?, seed: UInt64) {
        (self.now, self.mutation) = (now, mutation)
        dice = Dice(seed: seed)
    }

    /// A transaction under way.
    struct OpenTransaction {
        /// Whom it waits for.
        var waitsFor: [Int] = []
        var sharesCatalog = false
        /// Where its savepoint is: rows held in customers and in transactions.
        var savepoint = (customers: 0, transactions: 0)
        /// How many had committed when it began.
        var begunAfter: Int
        /// Whether it changes anything but its locks.
        var hasWritten = false
        /// Orders and tokens it found. One that somebody else made meanwhile it may have missed.
        var orders: Set<OrderNumber> = []
        var tokens: Set<String> = []
        /// The clock it decided by.
        var clock: Int64 = 0
        /// What re-drives found, unlocked.
        var redriven: [TransactionKey: Purchase] = [:]
    }

    /// Begins a transaction.
    func begin() -> Int {
        transactionCount += 1
        open[transactionCount] = OpenTransaction(begunAfter: commitCount)
        return transactionCount
    }

    /// Ends a transaction; all its locks are given up.
    func end(_ transaction: Int, commits: Bool) {
        guard open.removeValue(forKey: transaction) != nil else { return }
        if commits { commitCount += 1 }
        customers.end(transaction, commits: commits)
        tokens.end(transaction, commits: commits)
        orders.end(transaction, commits: commits)
        transactions.end(transaction, commits: commits)
        grants.end(transaction, commits: commits)
        accounts.end(transaction, commits: commits)
        lots.end(transaction, commits: commits)
        debts.end(transaction, commits: commits)
        spends.end(transaction, commits: commits)
        draws.end(transaction, commits: commits)
        ledger.end(transaction, commits: commits)
        catalogs.end(transaction, commits: commits)
        facts.end(transaction, commits: commits)
        unannounced.end(transaction, commits: commits)
        if exclusive == transaction { exclusive = 0 }
        if exclusiveWaiter == transaction { exclusiveWaiter = 0 }
        wakeThoseWaiting(for: transaction)
    }

    /// Whether a transaction waits for somebody.
    func isWaiting(_ transaction: Int) -> Bool { open[transaction]?.waitsFor.isEmpty == false }

    /// Makes a transaction wait; a circle of waiting is a broken rule, because every lane locks in one order.
    func wait(_ transaction: Int, for holders: [Int]) {
        open[transaction]?.waitsFor = holders
        var seen: Set<Int> = []
        var next = holders
        while let holder = next.popLast() {
            if holder == transaction { return violate("deadlock: lanes wait for each other's locks") }
            guard seen.insert(holder).inserted else { continue }
            next += open[holder]?.waitsFor ?? []
        }
    }

    /// Notes a broken rule; the first stays.
    func violate(_ rule: String) {
        if violation == nil { violation = rule }
    }

    /// Changes a transaction's notes.
    func update(_ transaction: Int, _ change: (inout OpenTransaction) -> Void) {
        guard open[transaction] != nil else { return }
        change(&open[transaction, default: OpenTransaction(begunAfter: 0)])
    }

    /// Gives up what was locked since the savepoint.
    func rollBackToSavepoint(_ transaction: Int) {
        guard let savepoint = open[transaction]?.savepoint else { return }
        customers.rollBack(transaction, to: savepoint.customers)
        transactions.rollBack(transaction, to: savepoint.transactions)
        wakeThoseWaiting(for: transaction)
    }

    /// The next number of a sequence, which no rollback gives back.
    func nextNumber() -> Int {
        sequence += 1
        return sequence
    }

    /// A random UUID for a new customer.
    func newCustomerID() -> CustomerID { CustomerID(dice.uuid()) }

    private func wakeThoseWaiting(for transaction: Int) {
        for (other, state) in open where state.waitsFor.contains(transaction) {
            open[other]?.waitsFor = state.waitsFor.filter { $0 != transaction }
        }
    }
}
