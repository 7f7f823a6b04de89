@testable import Messages

/// What Reconciliation asks, and what operators decide about its findings.
extension GoldenMessageTests {
    private static let key = PurchaseKey(environment: .production, transactionID: .init("504319184420155588"))
    private static let notification = NotificationKey(
        environment: .production, notificationUUID: "550e8400-e29b-41d4-a716-446655440000")

    private static let statement: PurchaseStatement = {
        var transaction = GoldenMessageTests.transaction
        transaction.appTransactionID = "704000000000000001"
        transaction.revocationDate = 1_760_000_002_000
        transaction.revocationPercentage = 50_000
        return PurchaseStatement(transaction)
    }()

    private static let state: PurchaseState = {
        let coins = [AssetAmount(asset: .init("COINS"), amount: 120)]
        var details = PurchaseDetails(
            app: .init("app"), productID: .init("coins_60"), quantity: 2, purchaseDate: 1_760_000_000_000,
            signedDate: 1_760_000_001_000, revokedShare: 50_000)
        details.customer = customer
        details.price = 9_990
        details.currency = "EUR"
        details.storefront = "DEU"
        details.orderNumber = .init("IAP1")
        details.orderStatus = .completed
        details.grantedAt = 1_760_000_003_000
        details.appliedShare = 50_000
        details.refundedAt = 1_760_000_004_000
        details.refundProcessedAt = 1_760_000_005_000
        details.amounts = coins
        details.expected = coins
        details.ledger = coins
        details.taken = coins
        details.owed = coins
        var state = PurchaseState(key: key, outcome: .held, reason: .unknownProduct)
        state.details = details
        state.signedDate = 1_760_000_000_000
        state.revokedShare = 50_000
        return state
    }()

    static let reconciliationSamples: [Sample] = [
        Sample(EvidencePageRequested(after: 41, before: 1_760_000_000_000, limit: 500)),
        Sample(
            EvidencePageAnswered(
                entries: [
                    EvidenceEntry(
                        app: .init("app"), environment: .production, transactionID: key.transactionID,
                        orderNumber: .init("IAP1"), hasSubmitter: true, verifiedAt: 1_760_000_000_000,
                        statement: statement)
                ], last: 42, hasMore: true)),
        Sample(
            EvidenceRedriveRequested(
                environment: .production, transactionID: key.transactionID, actor: "reconciliation",
                reason: "finding 7")),
        Sample(
            RegrantRequested(
                requestID: "550e8400-e29b-41d4-a716-446655440000", environment: .production,
                transactionID: key.transactionID, userID: .init("u1"), actor: "ops", reason: "ticket 5")),
        Sample(PurchaseStatesRequested(keys: [key], withDetails: true)),
        Sample(PurchaseStatesAnswered(states: [state])),
        Sample(BooksPageRequested(after: customer, limit: 500)),
        Sample(
            BooksPageAnswered(
                customers: 500, last: customer, hasMore: true,
                differences: [
                    BooksDifference(
                        app: .init("app"), customer: customer, asset: .init("COINS"), balance: 61, ledger: 60, lots: 60,
                        newest: 60, brokenLines: 0)
                ],
                totals: [.init(app: .init("app"), asset: .init("COINS"), accounts: 2, balance: 121, owed: 3)],
                risks: [.init(app: .init("app"), customer: customer, flags: 2, lastAt: 1_760_000_000_000)])),
        Sample(NotificationStatesRequested(keys: [notification])),
        Sample(
            NotificationStatesAnswered(states: [NotificationState(key: notification, storedAt: 1_760_000_000_000)])),
        Sample(ChainsRequested()),
        Sample(
            ChainsAnswered(
                chains: [
                    SignerChainState(
                        chain: "ab12", subject: "CN=Prod ECC Mac App Store and iTunes Store Receipt Signing",
                        serialNumber: "0a1b", firstSeenAt: 1_760_000_000_000, expiresAt: 1_790_000_000_000)
                ])),
        Sample(ConsumptionDeadlinesRequested(before: 1_760_000_000_000, endedAfter: 1_759_000_000_000)),
        Sample(
            ConsumptionDeadlinesAnswered(
                requests: [
                    ConsumptionDeadline(
                        app: .init("app"), key: notification, transactionID: key.transactionID,
                        deadline: 1_760_000_000_000, reason: "apple_unauthorized", isOver: false)
                ])),
        Sample(TransactionReceived(app: .init("app"), signedTransaction: "e30.e30.c2ln")),
        Sample(AppleOrderRequested(orderID: "MK5TTTVWJH")),
        Sample(
            AppleOrderAnswered(
                purchases: [.init(app: .init("app"), environment: .production, transactionID: key.transactionID)],
                asked: 2,
                problems: [
                    .init(
                        app: .init("app2"), bundleID: "com.example.app2", code: "server_api.unauthorized",
                        description: "Apple answered 401")
                ], unverified: 1)),
        Sample(ReconciliationRunRequested(date: "2026-11-30", app: .init("app"))),
        Sample(ReconciliationRunAnswered(request: 7)),
        Sample(FindingAcceptRequested(finding: 7, actor: "ops", reason: "known")),
        Sample(FindingRedriveRequested(finding: 7, actor: "ops", reason: "once more")),
        Sample(FindingAnswered(outcome: .accepted)),
        Sample(
            SalesImportRequested(
                reportID: "550e8400-e29b-41d4-a716-446655440000", app: .init("app"), begin: "2026-11-29",
                end: "2026-11-29", part: 1, parts: 2,
                lines: [
                    .init(productID: .init("coins60"), storefront: "USA", sold: 7, refunded: 1, commission: 30_000)
                ], actor: "ops")),
        Sample(SalesImportAnswered(parts: 1, isComplete: false)),
    ]
}
