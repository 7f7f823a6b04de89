import AppStoreSimulation
import JSON
import Testing

@testable import AppStore

/// The payload documents of Apple's library tests, signed by the simulated authority and read by the verifier.
@Suite struct PayloadModelTests {
    static let app = AcceptedApp(id: "example", bundleIDs: ["com.example"])
    /// Apple's documents are of LocalTesting, which is never accepted: only that word is changed.
    static func signed(_ name: String, _ signer: TransactionSigner, environment: String = "Sandbox") throws -> [UInt8] {
        let text = try Fixture.text("apple/models/\(name).json")
        return try signer.sign(payload: Array(text.replacing("LocalTesting", with: environment).utf8))
    }

    @Test func `a transaction with every field`() throws {
        var world = try World(apps: [Self.app])
        let jws = try Self.signed("signedTransaction", world.signer)
        let payload = try world.verifier.verifyTransaction(jws, now: World.now).transaction.payload
        #expect(payload.transactionID == "23456")
        #expect(payload.originalTransactionID == "12345")
        #expect(payload.webOrderLineItemID == "34343")
        #expect(payload.subscriptionGroupIdentifier == "55555")
        #expect(payload.originalPurchaseDate == 1_698_148_800_000)
        #expect(payload.purchaseDate == 1_698_148_900_000)
        #expect(payload.revocationDate == 1_698_148_950_000)
        #expect(payload.expiresDate == 1_698_149_000_000)
        #expect(payload.type == .autoRenewable)
        #expect(payload.appAccountToken?.description == "7e3fb20b-4cdb-47cc-936d-99d65f608138")
        #expect(payload.ownershipType == .purchased)
        #expect(payload.revocationReason == 1)
        #expect(payload.offerIdentifier == "abc.123")
        #expect(payload.isUpgraded == true)
        #expect(payload.offerType == 1)
        #expect(payload.storefront == "USA")
        #expect(payload.storefrontID == "143441")
        #expect(payload.transactionReason == "PURCHASE")
        #expect(payload.price == 10990)
        #expect(payload.currency == "USD")
        #expect(payload.offerDiscountType == "PAY_AS_YOU_GO")
        #expect(payload.appTransactionID == "71134")
        #expect(payload.offerPeriod == "P1Y")
        #expect(payload.billingPlanType == "MONTHLY")
        #expect(payload.commitmentInfo?["commitmentPrice"] == 119880)
        #expect(payload.advancedCommerceInfo?["taxRate"] == "0.15")
        #expect(try payload.purchase().signedDate == 1_698_148_900_000)
    }

    @Test func `a partly refunded transaction`() throws {
        var world = try World(apps: [Self.app])
        let jws = try Self.signed("signedTransactionWithRevocation", world.signer)
        let payload = try world.verifier.verifyTransaction(jws, now: World.now).transaction.payload
        #expect(payload.revocationType == "REFUND_PRORATED")
        #expect(payload.revocationPercentage == 50000)
    }

    @Test func `renewal info`() throws {
        var world = try World(apps: [Self.app])
        let payload = try world.verifier.verifyRenewalInfo(
            Self.signed("signedRenewalInfo", world.signer), now: World.now
        ).payload
        #expect(payload.originalTransactionID == "12345")
        #expect(payload.autoRenewProductID == "com.example.product.2")
        #expect(payload.productID == "com.example.product")
        #expect(payload.autoRenewStatus == 1)
        #expect(payload.isInBillingRetryPeriod == true)
    }

    @Test(arguments: [
        ("signedSummaryNotification", "RENEWAL_EXTENSION"),
        ("signedExternalPurchaseTokenSandboxNotification", "EXTERNAL_PURCHASE_TOKEN"),
        ("signedExternalPurchaseTokenNotification", "EXTERNAL_PURCHASE_TOKEN"),
    ])
    func `notifications of every shape`(name: String, type: String) throws {
        var world = try World(apps: [Self.app])
        let verified = try world.verifier.verifyNotification(Self.signed(name, world.signer), now: World.now)
        #expect(verified.notification.payload.notificationType == type)
        let isProduction = name == "signedExternalPurchaseTokenNotification"
        #expect(verified.notification.environment == (isProduction ? .production : .sandbox))
        #expect(verified.notification.appID == "example")
    }

    @Test(arguments: ["signedNotification", "signedConsumptionRequestNotification", "signedRescindConsentNotification"])
    func `placeholders inside a genuine notification are not signed data`(name: String) throws {
        var world = try World(apps: [Self.app])
        let jws = try Self.signed(name, world.signer)
        #expect(throws: Never.self) { try world.verifier.verifyNotificationAlone(jws, now: World.now) }
        #expect(world.refusal(notification: jws)?.reason == .format)
        let local = try Self.signed(name, world.signer, environment: "LocalTesting")
        #expect(world.refusal(notification: local)?.reason == .environmentMismatch)
    }

    @Test func `an app transaction`() throws {
        var world = try World(apps: [Self.app])
        let jws = try Self.signed("appTransaction", world.signer)
        let verified = try world.verifier.verifyAppTransaction(jws, now: World.now)
        #expect(verified.payload.appAppleID == 531412)
        #expect(verified.payload.versionExternalIdentifier == 512)
        #expect(verified.payload.originalPlatform == "iOS")
        #expect(verified.signedDate == 1_698_148_900_000)
        #expect(verified.payload.deviceVerificationNonce?.description == "48ccfa42-7431-4f22-9908-7e88983e105a")
    }

    @Test func `a retention message request`() throws {
        let app = AcceptedApp(id: "example", bundleIDs: [], appAppleID: 531412)
        var world = try World(apps: [app])
        let jws = try Self.signed("decodedRealtimeRequest", world.signer)
        #expect(try world.verifier.verifyRealtimeRequest(jws, now: World.now).appID == "example")
        var other = try World()
        #expect(throws: VerificationFailure.self) { try other.verifier.verifyRealtimeRequest(jws, now: World.now) }
    }
}
