import Messages
import Postgres

/// What the queries of one round trip found.
struct BookFindings {
    /// The catalogues in force.
    var stamps: [(app: AppID, stamp: CatalogTables.Stamp)] = []
    /// A catalogue's definition, and what its products were over time, oldest first.
    var definition: CatalogDefinition?
    var history: [ProductVersion] = []
    /// An import that was delivered before.
    var imported: (version: Int64, definition: CatalogDefinition)?
    /// Customers, found or locked.
    var customers: [Customer] = []
    /// Digests of users, in the order in which they were asked for.
    var userDigests: [String?] = []
    /// Possible owners.
    var owners: [CustomerID] = []
    /// Transactions: locked, read, or of chains.
    var purchases: [Purchase] = []
    /// Tokens handed out.
    var tokens: [(key: TokenKey, token: IssuedToken)] = []
    /// Who owns subscriptions, and which grants delivered their periods.
    var subscriptionOwners: [(chain: TransactionKey, owner: SubscriptionOwner)] = []
    var periods: [(key: PeriodKey, grant: TransactionKey, customer: CustomerID)] = []
    /// Refunds that limits may count, and when operators cleared their customers.
    var countedRefunds: [CountedRefund] = []
    var clearances: [(customer: CustomerID, at: Int64)] = []
    /// The database's time (ms since 1970).
    var now: Int64 = 0
    /// Balances.
    var accounts: [(key: AccountKey, account: Account)] = []
    /// Orders.
    var orders: [Order] = []
    /// Grants.
    var grants: [Grant] = []
    /// Lots, by their place in the order of spending.
    var lots: [Int64: Lot] = [:]
    /// What refunds drew, oldest first.
    var draws: [Draw] = []
    /// What refunds could not take back.
    var debts: [Debt] = []
    /// Decided spends.
    var spends: [Spend] = []
    /// Consents, the newest of a customer last.
    var consents: [Consent] = []
    /// Tokens of users.
    var userTokens: [(key: TokenKey, token: IssuedToken)] = []
    /// Who customers are to starter offers, and which offers are used up.
    var identities: [CustomerIdentity] = []
    var claims: [StarterClaim] = []
    /// What names of users meant before, oldest first.
    var formerUsers: [FormerUser] = []
    /// What was decided on a request about users before.
    var userCommand: (outcome: UserCommand.Outcome, customer: CustomerID?, isSame: Bool)?
    /// What a page of a sweep was answered before, and what is to be swept next, in order.
    var answeredSweep: SandboxSweepAnswered?
    var sweepable: [TransactionKey] = []
    /// Held purchases that were marked.
    var marked: [TransactionKey] = []

    /// Takes over the rows of a query.
    mutating func read(_ rows: Rows, of query: BookQuery) throws {
        switch query {
        case .keepCatalog, .changeCatalog, .insertCustomers, .savepoint, .rollBackToSavepoint, .insertTransactions,
            .lockSubscriptions, .insertClaims, .adoptRestored:
            break
        case .stamps: stamps += try rows.map(CatalogTables.stamp)
        case .definition: definition = try CatalogTables.decode(try rows.single().json("definition"))
        case .history: history += try rows.map(CatalogTables.productVersion)
        case .imported:
            imported = try rows.first.map {
                (try $0.int8("version"), try CatalogTables.decode(try $0.json("definition")))
            }
        case .findCustomers, .lockCustomers: customers += try rows.map(CustomerTables.customer)
        case .userDigests: userDigests += try rows.map { try $0.optionalText("digest") }
        case .formerUsers: formerUsers += try rows.map(UserTables.former)
        case .userCommand: userCommand = try rows.first.map(UserTables.decision)
        case .answeredSweep: answeredSweep = try rows.first.map(SweepTables.answer)
        case .sweepable:
            sweepable += try rows.map { try $0.transactionKey() }
            owners += try rows.map { try $0.id("customer") }
        case .findOwners, .hasBooks: owners += try rows.map { try $0.id("customer") }
        case .lockTransactions, .transactions, .chain, .cards: purchases += try rows.map(TransactionTable.purchase)
        case .tokens: tokens += try rows.map(CustomerTables.token)
        case .subscriptionOwners: subscriptionOwners += try rows.map(SubscriptionTables.owner)
        case .periods: periods += try rows.map(SubscriptionTables.period)
        case .transactionsOfPeriods:
            purchases += try rows.map(TransactionTable.purchase)
            tokens += try rows.compactMap(SubscriptionTables.token)
        case .countedRefunds: countedRefunds += try rows.map(RefundTables.counted)
        case .clearances: clearances += try rows.map(RefundTables.clearance)
        case .clock: now = try rows.single().int8("now")
        case .accounts: accounts += try rows.map(WalletTables.account)
        case .orders: orders += try rows.map(CustomerTables.order)
        case .grants: grants += try rows.map(GrantTable.grant)
        case .lotsOfGrants, .lots: try read(lots: rows)
        case .clawbackDraws:
            try read(lots: rows)
            draws += try rows.map(WalletTables.draw)
        case .debts, .openDebts: debts += try rows.map(WalletTables.debt)
        case .spends: spends += try rows.map(WalletTables.spend)
        case .consents: consents += try rows.map(ConsentTable.consent)
        case .userTokens: userTokens += try rows.map(CustomerTables.token)
        case .identities: identities += try rows.map(StarterTables.identity)
        case .lockClaims: claims += try rows.compactMap(StarterTables.claim)
        case .markHeld: marked += try rows.map { try $0.transactionKey() }
        }
    }

    private mutating func read(lots rows: Rows) throws {
        for row in rows {
            let (id, lot) = try WalletTables.lot(row)
            lots[id] = lot
        }
    }
}
