import Messages

@testable import Gateway

/// Answers of the services that lead to the samples of the client's documents.
enum Samples {
    static let balances = [
        AssetAmount(asset: AssetID("TIME_MINUTES"), amount: 120), AssetAmount(asset: AssetID("DANBING"), amount: 260),
    ]
    static let granted = PurchaseAnswered(
        status: .granted, mayFinish: true, transactionID: TransactionID("2000000888888888"),
        productID: ProductID("pyy_danbing_60"), amounts: [AssetAmount(asset: AssetID("DANBING"), amount: 60)],
        balances: balances)
    static let alreadyGranted = PurchaseAnswered(
        status: .alreadyGranted, mayFinish: true, transactionID: TransactionID("2000000888888888"),
        productID: ProductID("pyy_danbing_60"), amounts: [AssetAmount(asset: AssetID("DANBING"), amount: 60)],
        balances: balances)
    static let verifyBody = #"{"orderNo":"IAP202605250001","signedTransactionInfo":"eyJhbGciOiJFUzI1NiJ9.e30.c2ln"}"#
    static let consumeBody =
        #"{"userId":"user-1","assetType":"TIME_MINUTES","amount":5,"sourceId":"session-1","deadline":"2026-11-30T09:05:07Z"}"#

    static func product(
        _ code: String, _ id: String, _ amounts: [(String, Int64)], sort: Int64, isEnabled: Bool = true
    ) -> CatalogProduct {
        CatalogProduct(
            code: code, productID: ProductID(id), productType: "Consumable",
            amounts: amounts.map { AssetAmount(asset: AssetID($0.0), amount: $0.1) }, isEnabled: isEnabled, sort: sort)
    }

    static func catalog(_ products: [CatalogProduct]) -> CatalogAnswered {
        CatalogAnswered(
            catalogVersion: 1,
            definition: CatalogDefinition(
                assets: [], products: products,
                policies: CatalogPolicies(
                    sandboxAudience: .listed, reviewers: [], testers: [], requiresAppAccountToken: false,
                    orderExpiryHours: 24)), problems: [])
    }

    /// An answer to any question, so that every route can succeed.
    static let everything: ScriptedAsker.Script = { question, _ in
        switch question {
        case is PurchaseSubmitted: granted
        case is CatalogRequested: catalog([product("DANBING_60", "pyy_danbing_60", [("DANBING", 60)], sort: 1)])
        case let order as OrderRequested:
            OrderAnswered(
                code: nil, orderNumber: order.orderNumber, productID: order.productID,
                appAccountToken: order.appAccountToken)
        case is BalanceRequested: BalanceAnswered(balances: balances)
        case is EntitlementsRequested: EntitlementsAnswered(entitlements: [])
        case is LedgerRequested: LedgerAnswered(entries: [], nextBefore: nil)
        case is TransactionRequested: TransactionAnswered(transactions: [transaction])
        case let spend as SpendRequested:
            SpendAnswered(outcome: .spent, code: nil, asset: spend.asset, amount: spend.amount, balanceAfter: 115)
        case is ConsentRequested, is ConsentChangeRequested:
            ConsentAnswered(isGiven: true, termsVersion: nil, changedAt: 1_780_000_000_000)
        default: RequestParked(reason: "unexpected")
        }
    }

    static let transaction = TransactionSummary(
        transactionID: TransactionID("2000000888888888"), environment: .production,
        productID: ProductID("pyy_danbing_60"), quantity: 1, orderNumber: OrderNumber("IAP202605250001"),
        status: "GRANTED", heldReason: nil, amounts: [AssetAmount(asset: AssetID("DANBING"), amount: 60)],
        revokedShare: 0, purchaseDate: 1_779_000_000_123, grantedAt: 1_779_000_001_000)
}
