import Messages
import Postgres

/// What is asked of the tables, and locked in them. The sets of keys may be empty.
enum BookQuery {
    /// Keeps imports out until the transaction ends.
    case keepCatalog
    /// Keeps decisions and other imports out until the transaction ends.
    case changeCatalog
    /// Which catalogues are in force.
    case stamps([AppID])
    /// A version of a catalogue.
    case definition(AppID, version: Int64)
    /// Every version of every product up to now.
    case history(AppID)
    /// What an import that was delivered before brought into force.
    case imported(by: MessageID)

    /// Inserts customers that are missing, in key order.
    case insertCustomers([UserKey])
    /// Gives users who come back the customers they were, where those were lost and restored.
    case adoptRestored([UserKey])
    /// Which users these are, as facts tell it; in their order.
    case userDigests([UserKey])
    /// The customers of users, unlocked.
    case findCustomers([UserKey])
    /// Everybody who may turn out to own one of these purchases, tokens or orders, unlocked.
    case findOwners([TransactionKey], [TokenKey], [OrderNumber])

    /// Where locks can be given up to.
    case savepoint
    /// Gives the locks up that were taken since.
    case rollBackToSavepoint
    /// Locks customers in key order, and with each the whole wallet.
    case lockCustomers([CustomerID])
    /// Locks subscriptions, and with each what every transaction of it says; the transaction id stands for the original.
    case lockSubscriptions([TransactionKey])
    /// Inserts the transactions that are missing; sorted by key, one a key.
    case insertTransactions([Submission])
    /// Locks and reads transactions, in key order.
    case lockTransactions([TransactionKey])
    /// What some customers have of some cards: what was delivered, and what waits because it is owned.
    case cards([CustomerID], [ProductID])
    /// The tokens named by messages and by stored transactions.
    case tokens([TokenKey], [TransactionKey])

    /// The time of the decisions.
    case clock
    /// Balances.
    case accounts([CustomerID])
    /// Orders by number.
    case orders([OrderNumber])
    /// The transactions of chains of restores that belong to one of some customers.
    case chain([TransactionKey], ownedBy: [CustomerID])
    /// Grants of transactions, and of the chains of non-consumables that one of some customers may hold; below, what
    /// belongs to them.
    case grants([TransactionKey], chains: [TransactionKey], ownedBy: [CustomerID])
    /// Their lots.
    case lotsOfGrants([TransactionKey], chains: [TransactionKey], ownedBy: [CustomerID])
    /// What their refunds and payments of their debts drew, and the lots that was drawn on.
    case clawbackDraws([TransactionKey], chains: [TransactionKey], ownedBy: [CustomerID])
    /// What their refunds could not take back.
    case debts([TransactionKey], chains: [TransactionKey], ownedBy: [CustomerID])
    /// Who owns subscriptions.
    case subscriptionOwners([TransactionKey])
    /// Which grants delivered periods of subscriptions.
    case periods([PeriodKey])
    /// The transactions that tell of periods of subscriptions.
    case transactionsOfPeriods([PeriodKey])
    /// Refunds of customers that limits may count, and when an operator cleared them.
    case countedRefunds([CustomerID])
    case clearances([CustomerID])
    /// What customers owe.
    case openDebts([CustomerID])
    /// The lots with anything left that can be drawn on.
    case lots([WalletTables.LotRange])
    /// Decided spends.
    case spends([SpendKey])
    /// The tokens of users.
    case userTokens([CustomerID])
    /// Who customers are to starter offers.
    case identities([CustomerID])
    /// Inserts the rows of starter offers that are missing, in key order.
    case insertClaims([StarterKey])
    /// Locks the rows of starter offers, in key order.
    case lockClaims([StarterKey])

    /// The consents in force, and what earlier deliveries of some messages made of them.
    case consents([CustomerID], [MessageID])

    /// What names of users meant before.
    case formerUsers([UserKey])
    /// What was decided on an operator's request about users before.
    case userCommand(UserCommand.Kind, AppID, requestID: String, [UserID])
    /// The customer, if it has anything that another wallet could miss.
    case hasBooks(CustomerID)
    /// What a page of a sweep was answered before, and the sandbox grants that are to be swept next.
    case answeredSweep(MessageID)
    case sweepable(SandboxSweepRequested, limit: Int64)

    /// Transactions as they are, unlocked.
    case transactions([TransactionKey])
    /// Marks held purchases as asked for, and returns them; locked ones are skipped.
    case markHeld(TransactionTable.HeldRange)

    /// The SQL.
    var statement: Statement {
        switch self {
        case .keepCatalog: CatalogTables.lockShared
        case .changeCatalog: CatalogTables.lockExclusive
        case .stamps(let apps): CatalogTables.stamps(apps)
        case .definition(let app, let version): CatalogTables.definition(of: app, version: version)
        case .history(let app): CatalogTables.history(of: app)
        case .imported(let cause): CatalogTables.imported(by: cause)
        case .insertCustomers(let users): CustomerTables.insert(users)
        case .adoptRestored(let users): CustomerTables.adopt(users)
        case .userDigests(let users): CustomerTables.digests(users)
        case .findCustomers(let users): CustomerTables.find(users)
        case .findOwners(let keys, let tokens, let orders): CustomerTables.possibleOwners(keys, tokens, orders)
        case .savepoint: Statement("SAVEPOINT loading")
        case .rollBackToSavepoint: Statement("ROLLBACK TO SAVEPOINT loading")
        case .lockCustomers(let customers): CustomerTables.lock(customers)
        case .lockSubscriptions(let chains): SubscriptionTables.lock(chains)
        case .insertTransactions(let submissions): TransactionTable.insert(submissions)
        case .lockTransactions(let keys): TransactionTable.lock(keys)
        case .cards(let customers, let products): TransactionTable.cards(products, of: customers)
        case .tokens(let tokens, let keys): CustomerTables.tokens(tokens, keys)
        case .clock: Statement("SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now")
        case .accounts(let customers): WalletTables.accounts(customers)
        case .orders(let numbers): CustomerTables.orders(numbers)
        case .chain(let chains, let owners): TransactionTable.read(chains: chains, ownedBy: owners)
        case .grants(let keys, let chains, let owners): GrantTable.read(keys, chains: chains, ownedBy: owners)
        case .lotsOfGrants(let keys, let chains, let owners):
            WalletTables.lots(of: keys, chains: chains, ownedBy: owners)
        case .clawbackDraws(let keys, let chains, let owners):
            WalletTables.clawbackDraws(of: keys, chains: chains, ownedBy: owners)
        case .debts(let keys, let chains, let owners): WalletTables.debts(of: keys, chains: chains, ownedBy: owners)
        case .subscriptionOwners(let chains): SubscriptionTables.owners(chains)
        case .periods(let periods): SubscriptionTables.periods(periods)
        case .transactionsOfPeriods(let periods): SubscriptionTables.transactions(of: periods)
        case .countedRefunds(let customers): RefundTables.counted(customers)
        case .clearances(let customers): RefundTables.clearances(customers)
        case .openDebts(let customers): RefundTables.openDebts(customers)
        case .lots(let ranges): WalletTables.lots(ranges)
        case .spends(let keys): WalletTables.spends(keys)
        case .consents(let customers, let causes): ConsentTable.read(customers, causes)
        case .userTokens(let customers): StarterTables.userTokens(customers)
        case .identities(let customers): StarterTables.identities(customers)
        case .insertClaims(let keys): StarterTables.insert(keys)
        case .lockClaims(let keys): StarterTables.lock(keys)
        case .formerUsers(let users): UserTables.former(users)
        case .userCommand(let kind, let app, let requestID, let users):
            UserTables.decided(kind, app, requestID, users)
        case .hasBooks(let customer): UserTables.hasBooks(customer)
        case .answeredSweep(let cause): SweepTables.answered(cause)
        case .sweepable(let request, let limit): SweepTables.page(request, limit: limit)
        case .transactions(let keys): TransactionTable.read(keys)
        case .markHeld(let range): TransactionTable.markHeld(range)
        }
    }
}
