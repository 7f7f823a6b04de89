import Testing

@testable import Messages

/// Messages of notifications with every field set.
extension GoldenMessageTests {
    static let renewal: VerifiedRenewal = {
        var renewal = VerifiedRenewal(
            environment: .production, originalTransactionID: .init("504319184420155588"),
            signedDate: 1_760_000_001_000, payloadHash: "11ff")
        renewal.productID = .init("monthly")
        renewal.autoRenewProductID = .init("yearly")
        renewal.autoRenewStatus = 1
        renewal.expirationIntent = 2
        renewal.isInBillingRetryPeriod = true
        renewal.gracePeriodExpiresDate = 1_760_000_002_000
        renewal.renewalDate = 1_760_000_003_000
        return renewal
    }()

    static let notificationSamples: [Sample] = {
        var verified = NotificationVerified(
            app: .init("app"), environment: .production, notificationUUID: "002e14d5-51f5-4503-b5a8-c3a1af68eb20",
            notificationType: "CONSUMPTION_REQUEST", signedDate: 1_760_000_001_000)
        verified.subtype = "INITIAL_BUY"
        verified.transaction = transaction
        verified.renewal = renewal
        verified.subscriptionStatus = 4
        verified.consumptionRequestReason = "UNINTENDED_PURCHASE"
        return [
            Sample(NotificationReceived(app: .init("app"), signedPayload: "a.b.c")),
            Sample(verified),
            Sample(
                NotificationRedriveRequested(
                    notificationUUIDs: ["002e14d5-51f5-4503-b5a8-c3a1af68eb20"], environment: .sandbox,
                    notificationTypes: ["NEWER"], actor: "ops", isDryRun: true)),
            Sample(NotificationRedriveAnswered(count: 2, unknown: ["002e14d5-51f5-4503-b5a8-c3a1af68eb21"])),
        ]
    }()

    @Test func `a kind of notification has a routing key of its own, and a new kind is not lost`() {
        #expect(MessageType.notification("ONE_TIME_CHARGE").rawValue == "notification.one_time_charge")
        #expect(MessageType.notification("BORN_TOMORROW") == .notificationUnrecognised)
        #expect(AppleNotificationType.allCases.count == 23)
        for type in MessageType.notifications { #expect(NotificationVerified.isBody(of: type)) }
        #expect(!NotificationVerified.isBody(of: .purchaseVerified))
    }
}
