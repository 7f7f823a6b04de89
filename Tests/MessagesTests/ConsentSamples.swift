@testable import Messages

/// Consent, and what Apple may be told.
extension GoldenMessageTests {
    static let consentSamples: [Sample] = [
        Sample(
            ConsentChangeRequested(app: .init("app"), userID: .init("u1"), isGiven: true, termsVersion: "2026-11-01")),
        Sample(
            ConsentChanged(
                customer: customer, revision: 2, isGiven: true, termsVersion: "2026-11-01",
                requestedAt: 1_760_000_000_000, userDigest: String(repeating: "0a", count: 32))),
        Sample(ConsentRequested(app: .init("app"), userID: .init("u1"))),
        Sample(ConsentAnswered(isGiven: true, termsVersion: "2026-11-01", changedAt: 1_760_000_000_000)),
        Sample(
            ConsumptionAssessmentRequested(
                app: .init("app"), environment: .production, transactionID: .init("504319184420155588"))),
        Sample(
            {
                var assessed = ConsumptionAssessed(isAnswered: true)
                assessed.isOwned = true
                assessed.hasConsented = true
                assessed.isDelivered = true
                assessed.productType = "Consumable"
                assessed.consumedShare = 33_333
                assessed.isSampleProvided = true
                assessed.preference = .grantProrated
                assessed.appAccountToken = "550e8400-e29b-41d4-a716-446655440000"
                assessed.purchases = 4
                assessed.refunds = 1
                assessed.recentRefunds = 1
                assessed.isUnderReview = true
                assessed.dollarsPurchased = 39_960
                assessed.dollarsRefunded = 9_990
                return assessed
            }()),
    ]
}
