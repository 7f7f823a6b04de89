import Messages
import Postgres

/// What is written into the tables: one case a kind of row, whatever the batch holds.
enum BookChange {
    /// New orders, siblings after the orders they refer to.
    case insertOrders([Order])
    /// The tokens issued with new orders.
    case insertTokens([Order])
    /// New tokens of users.
    case insertUserTokens([(key: TokenKey, customer: CustomerID)])
    /// Who customers are to starter offers, sorted.
    case insertIdentities([CustomerIdentity])
    /// Starter offers that are used up, sorted.
    case saveClaims([StarterClaim])
    /// Orders that a purchase delivered.
    case deliverOrders([Order])
    /// Newer statements.
    case updateStatements([Purchase])
    /// What was decided about transactions.
    case updateOutcomes([Purchase])
    /// New grants.
    case insertGrants([Grant])
    /// Which revoked share the wallet reflects.
    case updateGrants([Grant])
    /// Balances.
    case saveAccounts([(key: AccountKey, account: Account)])
    /// New lots, in the order in which they are to be spent.
    case insertLots([Lot])
    /// What is left of lots.
    case updateLots([Lot])
    /// Draws, in the order they happened.
    case insertDraws([Draw])
    /// Lines of the books, in the order they happened.
    case appendLedger([LedgerRow])
    /// Debts.
    case saveDebts([Debt])
    /// Decided spends.
    case insertSpends([Spend])
    /// Statements about refunds.
    case saveRefundStatements([RefundStatement])
    /// Newest renewal infos, sorted.
    case saveRenewals([Renewal])
    /// Flags for people.
    case insertFlags([RiskFlag])
    /// Consent given or withdrawn.
    case insertConsents([Consent])
    /// An operator's word about a user.
    case clearRisk(RiskClearRequested, cause: MessageID)
    /// Who a customer is from now on; nil: nobody.
    case nameCustomer(CustomerID, UserID?)
    /// Hashes of who a customer is go.
    case forgetIdentities(CustomerID)
    /// What a customer was called as a guest goes.
    case forgetFormerNames(CustomerID)
    /// Nothing is awaited on a customer's orders any more.
    case endOrders(CustomerID)
    /// What nobody owns yet is decided anew for nobody: whoever handed it in may claim it by a later login.
    case dropSubmissions(CustomerID)
    /// A name means something no more.
    case retireName(FormerUser, cause: MessageID)
    /// An operator's decision about a user.
    case recordUserCommand(UserCommand)
    /// Sandbox grants that give nothing from now on.
    case markSwept([TransactionKey])
    /// A page of a sweep.
    case recordSweep(SandboxSweepRequested, SandboxSweepAnswered, cause: MessageID)
    /// A catalogue that comes into force; the next three belong to it.
    case insertCatalog(CatalogTables.Entry)
    /// What its products are from now on.
    case insertProducts(CatalogTables.Entry)
    /// What they grant.
    case insertAmounts(CatalogTables.Entry)
    /// Its assets, for people and reports.
    case saveAssets(CatalogTables.Entry)

    /// The SQL.
    var statement: Statement {
        switch self {
        case .insertOrders(let orders): CustomerTables.insert(orders)
        case .insertTokens(let orders): CustomerTables.insertTokens(of: orders)
        case .insertUserTokens(let tokens): StarterTables.insert(tokens)
        case .insertIdentities(let identities): StarterTables.insert(identities)
        case .saveClaims(let claims): StarterTables.save(claims)
        case .deliverOrders(let orders): CustomerTables.deliver(orders)
        case .updateStatements(let purchases): TransactionTable.updateStatements(purchases)
        case .updateOutcomes(let purchases): TransactionTable.updateOutcomes(purchases)
        case .insertGrants(let grants): GrantTable.insert(grants)
        case .updateGrants(let grants): GrantTable.update(grants)
        case .saveAccounts(let accounts): WalletTables.save(accounts)
        case .insertLots(let lots): WalletTables.insert(lots)
        case .updateLots(let lots): WalletTables.update(lots)
        case .insertDraws(let draws): WalletTables.insert(draws)
        case .appendLedger(let rows): WalletTables.append(rows)
        case .saveDebts(let debts): WalletTables.save(debts)
        case .insertSpends(let spends): WalletTables.insert(spends)
        case .saveRefundStatements(let statements): RefundTables.save(statements)
        case .saveRenewals(let renewals): SubscriptionTables.save(renewals)
        case .insertFlags(let flags): RefundTables.insert(flags)
        case .insertConsents(let consents): ConsentTable.insert(consents)
        case .clearRisk(let request, let cause): RefundTables.clear(request, cause: cause)
        case .nameCustomer(let customer, let user): UserTables.name(customer, user)
        case .forgetIdentities(let customer): UserTables.forgetIdentities(of: customer)
        case .forgetFormerNames(let customer): UserTables.forgetFormerNames(of: customer)
        case .endOrders(let customer): UserTables.endOrders(of: customer)
        case .dropSubmissions(let customer): UserTables.dropSubmissions(of: customer)
        case .retireName(let name, let cause): UserTables.retire(name, cause: cause)
        case .recordUserCommand(let command): UserTables.record(command)
        case .markSwept(let keys): SweepTables.mark(keys)
        case .recordSweep(let request, let answer, let cause): SweepTables.record(request, answer, cause: cause)
        case .insertCatalog(let entry): CatalogTables.insert(entry)
        case .insertProducts(let entry): CatalogTables.insertProducts(entry)
        case .insertAmounts(let entry): CatalogTables.insertAmounts(entry)
        case .saveAssets(let entry): CatalogTables.saveAssets(entry)
        }
    }
}
