@testable import Messages

/// What Reconciliation asks, and what operators decide about its findings.
extension GoldenMessageTests {
    private static let key = PurchaseKey(environment: .production, transactionID: .init("504319184420155588"))

    private static let statement: PurchaseStatement = {
        var transaction = GoldenMessageTests.transaction
        transaction.appTransactionID = "704000000000000001"
        transaction.revocationDate = 1_760_000_002_000
        transaction.revocationPercentage = 50_000
        return PurchaseStatement(transaction)
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
        Sample(PurchaseStatesRequested(keys: [key])),
        Sample(PurchaseStatesAnswered(states: [PurchaseState(key: key, outcome: .held, reason: .unknownProduct)])),
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
