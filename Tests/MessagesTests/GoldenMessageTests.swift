import FoundationEssentials
import Testing

@testable import Messages

/// The contract between services: every message as it stands on the wire. A changed file is a changed contract;
/// `UPDATE_FIXTURES=1 swift test` rewrites them.
@Suite struct GoldenMessageTests {
    static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Fixtures/messages")

    static let transaction: VerifiedTransaction = {
        var transaction = VerifiedTransaction(
            environment: .production, transactionID: .init("504319184420155588"),
            originalTransactionID: .init("504319184420155588"), bundleID: "com.example.app",
            productID: .init("coins_60"), productType: "Consumable", ownership: "PURCHASED", quantity: 2,
            purchaseDate: 1_760_000_000_000, signedDate: 1_760_000_001_000, payloadHash: "00ff")
        transaction.appAccountToken = "550e8400-e29b-41d4-a716-446655440000"
        transaction.price = 9_990
        transaction.currency = "EUR"
        transaction.storefront = "DEU"
        return transaction
    }()

    /// Every message type with every field set.
    static let samples: [Sample] =
        purchaseSamples + walletSamples + catalogSamples + notificationSamples + revocationSamples
        + consentSamples + userSamples + reconciliationSamples

    @Test(arguments: samples) func `a message on the wire is exactly its golden file`(sample: Sample) throws {
        let file = Self.folder.appending(path: "\(sample.type.rawValue).v\(sample.version).json")
        let encoded = try sample.encode()
        if ProcessInfo.processInfo.environment["UPDATE_FIXTURES"] == "1" { try Data(encoded).write(to: file) }
        let golden = [UInt8](try Data(contentsOf: file))
        #expect(String(decoding: encoded, as: UTF8.self) == String(decoding: golden, as: UTF8.self))
        #expect(try sample.readsBack(golden))
    }

    @Test func `every message type has a golden file`() throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path)
        #expect(Set(names) == Set(Self.samples.map { "\($0.type.rawValue).v\($0.version).json" }))
    }

    @Test func `fields that a newer version adds are ignored`() throws {
        let body = Array(#"{"transactionID":"1","environment":"Sandbox","addedTomorrow":[1,{}]}"#.utf8)
        let message = try MessageCoding.decode(PurchaseRedriveRequested.self, from: body)
        #expect(message == PurchaseRedriveRequested(transactionID: .init("1"), environment: .sandbox))
    }

    @Test func `a transaction id above 2^53 keeps every digit`() throws {
        let body = try MessageCoding.encode(
            PurchaseRedriveRequested(transactionID: .init("504319184420155588"), environment: .production))
        #expect(String(decoding: body, as: UTF8.self).contains(#""504319184420155588""#))
    }
}

/// A message with its kind erased, so that one table holds them all.
struct Sample: Sendable, CustomTestStringConvertible {
    let type: MessageType
    let version: Int
    let encode: @Sendable () throws -> [UInt8]
    let readsBack: @Sendable ([UInt8]) throws -> Bool
    var testDescription: String { type.rawValue }

    init<M: Message>(_ message: M) {
        type = message.messageType
        version = M.version
        encode = { try MessageCoding.encode(message) }
        readsBack = { try MessageCoding.decode(M.self, from: $0) == message }
    }
}

extension GoldenMessageTests {
    static let customer = CustomerID("7b1f4a52-0000-4000-8000-000000000001")
    private static let place = HistoryPlace(
        microseconds: 1_760_000_000_000_001, environment: .production, transactionID: .init("504319184420155588"))
    private static let coins = [AssetAmount(asset: .init("COINS"), amount: 120)]

    private static let revocationSamples: [Sample] = [
        Sample(ChainCheckRequested(leaf: "MAMCAQE=", intermediate: "MAMCAQI=")),
        Sample(
            ReceiptCheckRequested(
                PurchaseSubmitted(
                    app: .init("app"), userID: .init("u1"), receipt: "MIIB", productID: .init("coins_60")),
                submission: MessageID("7b1f4a52-0000-4000-8000-000000000002"), at: 1_760_000_000_000, reason: "format")),
        Sample(
            {
                var checked = ChainChecked(
                    chain: "00ff", subject: "/CN=Leaf/O=Apple Inc.", serialNumber: "47c287cd",
                    leafAsOf: 1_760_000_000_000, intermediateAsOf: 1_760_000_001_000,
                    answerEnds: 1_760_043_200_000, checkAgainAt: 1_760_021_600_000)
                checked.revokedAt = 1_759_999_999_000
                checked.reason = 1
                return checked
            }()),
    ]

    private static let expectation = PurchaseExpectation(
        productCode: "COINS_60", productID: .init("coins_60"), transactionID: .init("504319184420155588"),
        appAccountToken: "550e8400-e29b-41d4-a716-446655440000")
    private static let identities = [IdentityHash(keyID: "k1", hash: String(repeating: "0a", count: 32))]

    private static let purchaseSamples: [Sample] = [
        Sample(
            PurchaseSubmitted(
                app: .init("app"), userID: .init("u1"), orderNumber: .init("IAP20260101000000000001"),
                signedTransaction: "a.b.c", expectation: expectation, identities: identities)),
        Sample(
            {
                var verified = PurchaseVerified(
                    app: .init("app"), userID: .init("u1"), orderNumber: .init("IAP20260101000000000001"),
                    transaction: transaction, expectation: expectation, identities: identities)
                verified.submittedAt = 1_760_000_002_000
                return verified
            }()),
        Sample(granted),
        Sample(
            {
                var held = PurchaseHeld(
                    customer: customer, transactionID: .init("1"), productID: .init("coins_60"),
                    reason: .unknownProduct, statement: transaction)
                held.submitter = customer
                held.submittedOrder = .init("IAP20260101000000000001")
                held.isClaimedByCaller = true
                held.userDigest = String(repeating: "0a", count: 32)
                return held
            }()),
        Sample(
            {
                var noted = PurchaseNoted(
                    customer: customer, transactionID: .init("504319184420155588"), productID: .init("coins_60"),
                    isClaimedByCaller: true, statement: transaction)
                noted.deliveredBy = .init("504319184420155587")
                noted.orderNumber = .init("IAP20260101000000000002")
                noted.siblingOf = .init("IAP20260101000000000001")
                noted.submittedOrder = .init("IAP20260101000000000001")
                noted.userDigest = String(repeating: "0a", count: 32)
                return noted
            }()),
        Sample(
            PurchaseFrozen(
                customer: customer, transactionID: .init("504319184420155588"), statement: transaction)),
        Sample(
            PurchaseClawedBack(
                customer: customer, transactionID: .init("1"), revokedShare: 40_000, revision: 1, taken: coins,
                owed: [], balances: [], statement: transaction)),
        Sample(PurchaseRedriveRequested(transactionID: .init("1"), environment: .sandbox)),
        Sample(RiskClearRequested(app: .init("app"), userID: .init("u1"), actor: "op", reason: "called, all is well")),
        Sample(RiskClearAnswered(isUnknownUser: true)), Sample(RiskCleared(customer: customer, actor: "op")),
        Sample(
            RiskFlagged(customer: customer, kind: .debt, transactionID: .init("1"), revision: 2, owed: coins)),
        Sample(
            DebtRepaid(
                customer: customer, transactionID: .init("1"), asset: .init("COINS"), amount: 30, open: 90,
                paidBy: .init("2"), balance: 30)),
        Sample(answered),
        Sample(RequestParked(reason: "message.body_unreadable")),
    ]

    /// As Granting's database makes them.
    static let digest = String(repeating: "0f", count: 32)

    private static let granted: PurchaseGranted = {
        var granted = PurchaseGranted(
            customer: customer, transactionID: .init("1"), productID: .init("coins_60"), productVersion: 3,
            quantity: 2, orderNumber: .init("IAP20260101000000000001"), amounts: coins, revokedShare: 0,
            balances: coins, isClaimedByCaller: false)
        granted.isVerified = true
        granted.statement = transaction
        granted.starterUnits = 1
        granted.starterIdentities = identities
        granted.siblingOf = .init("IAP20260101000000000000")
        granted.userDigest = digest
        return granted
    }()

    private static let answered: PurchaseAnswered = {
        var answer = PurchaseAnswered(
            status: .refused, code: .orderNotFound, reason: "order_unknown", mayFinish: false,
            transactionID: .init("1"), productID: .init("coins_60"), amounts: coins, revokedShare: 0,
            balances: coins, securityEvent: .foreignOrder)
        answer.rewardID = 3_001
        answer.entitlement = EntitlementState(
            name: "vip", environment: .production, isActive: true, status: .active, productID: .init("coins_60"))
        answer.entitlement?.until = 1_760_000_000_000
        return answer
    }()

    private static let walletSamples: [Sample] = [
        Sample(
            OrderRequested(
                app: .init("app"), userID: .init("u1"), productID: .init("coins_60"),
                orderNumber: .init("IAP20260101000000000001"), appAccountToken: "550e8400-e29b-41d4-a716-446655440000")),
        Sample(
            OrderCreated(
                customer: customer, orderNumber: .init("IAP20260101000000000001"), productID: .init("coins_60"),
                appAccountToken: "550e8400-e29b-41d4-a716-446655440000", expiresAt: 1_760_000_000_000,
                userDigest: digest)),
        Sample(
            OrderAnswered(
                code: .unknownAppleProductID, orderNumber: .init("IAP20260101000000000001"),
                productID: .init("coins_60"), appAccountToken: "550e8400-e29b-41d4-a716-446655440000")),
        Sample(
            SpendRequested(
                app: .init("app"), userID: .init("u1"), asset: .init("COINS"), amount: 5, sourceID: "session-1",
                deadline: 1_760_000_000_000)),
        Sample(
            SpendDecided(
                customer: customer, sourceID: "session-1", asset: .init("COINS"), amount: 5, outcome: .spent,
                balanceAfter: 115, userDigest: digest)),
        Sample(
            SpendAnswered(
                outcome: .notEnough, code: .balanceNotEnough, asset: .init("COINS"), amount: 5, balanceAfter: 3)),
        Sample(BalanceRequested(app: .init("app"), userID: .init("u1"))),
        Sample(
            TokenRequested(
                app: .init("app"), userID: .init("u1"), appAccountToken: "550e8400-e29b-41d4-a716-446655440000",
                identities: identities)),
        Sample(
            TokenIssued(
                customer: customer, appAccountToken: "550e8400-e29b-41d4-a716-446655440000", userDigest: digest)),
        Sample(
            TokenAnswered(
                code: .purchasePending, appAccountToken: "550e8400-e29b-41d4-a716-446655440000",
                usedOffers: ["new_user"])),
        Sample(BalanceAnswered(balances: coins, spent: coins)),
        Sample(LedgerRequested(app: .init("app"), userID: .init("u1"), asset: .init("COINS"), before: 9, limit: 50)),
        Sample(
            LedgerAnswered(
                entries: [
                    LedgerEntry(
                        id: 8, asset: .init("COINS"), direction: .into, amount: 120, balanceAfter: 120,
                        sourceType: "APPLE_IAP", sourceID: "1/0", remark: "Apple purchase: coins_60",
                        environment: .production, createdAt: 1_760_000_000_000)
                ], nextBefore: 8)),
        Sample(HistoryRequested(app: .init("app"), userID: .init("u1"), before: place, limit: 50)),
        Sample(
            HistoryAnswered(
                purchases: [
                    DeliveredPurchase(
                        place: place, productID: .init("coins_60"), quantity: 2, amounts: coins,
                        purchaseDate: 1_760_000_000_000, revokedShare: 50_000, revokedAt: 1_760_000_500_000)
                ], nextBefore: place)),
        Sample(EntitlementsRequested(app: .init("app"), userID: .init("u1"))),
        Sample(
            EntitlementsAnswered(entitlements: [
                {
                    var state = EntitlementState(
                        name: "vip", environment: .production, isActive: true, status: .gracePeriod,
                        productID: .init("monthly"))
                    state.until = 1_760_000_000_000
                    state.willRenew = true
                    state.renewsAs = .init("yearly")
                    state.expirationIntent = 2
                    return state
                }()
            ])),
        Sample(TransactionRequested(app: .init("app"), userID: .init("u1"), transactionID: .init("1"))),
        Sample(
            TransactionAnswered(transactions: [
                TransactionSummary(
                    transactionID: .init("1"), environment: .sandbox, productID: .init("coins_60"), quantity: 2,
                    orderNumber: .init("IAP20260101000000000001"), status: "HELD", heldReason: .sandboxPolicy,
                    amounts: coins, revokedShare: 0, purchaseDate: 1_760_000_000_000, grantedAt: 1_760_000_000_001)
            ])),
    ]

    private static let product: CatalogProduct = {
        var product = CatalogProduct(
            code: "COINS_60", productID: .init("coins_60"), productType: "Consumable",
            amounts: [AssetAmount(asset: .init("COINS"), amount: 60)], entitlement: "vip", entitlementDays: 30,
            isEnabled: true, sort: 1, remark: "sixty")
        product.rewardID = 3_001
        return product
    }()

    private static let definition = CatalogDefinition(
        assets: [CatalogAsset(asset: .init("COINS"), jsonName: "coins", insufficientCode: .balanceNotEnough)],
        products: [product],
        policies: CatalogPolicies(
            sandboxAudience: .listed, reviewers: [.init("r")], testers: [.init("t")], requiresAppAccountToken: false,
            orderExpiryHours: 24, debtRepaymentShare: 50_000,
            risk: RiskPolicy(
                orders: RiskLimit(refunds: 5, amounts: [MoneyAmount(currency: "CNY", milliunits: 500_000)]),
                spends: RiskLimit(refunds: 8, amounts: []), review: RiskLimit(refunds: 3, amounts: [])),
            consumption: ConsumptionPolicy(preference: .grantProrated, isSampleProvided: true)))

    private static let catalogSamples: [Sample] = [
        Sample(
            CatalogImportRequested(
                app: .init("app"), actor: "operator", expectedVersion: 2, definition: definition)),
        Sample(
            CatalogImported(
                catalogVersion: 3, actor: "operator", changedProducts: [.init("coins_60")], definition: definition)),
        Sample(CatalogRequested(app: .init("app"))),
        Sample(CatalogAnswered(catalogVersion: 3, definition: definition, problems: ["a problem"])),
    ]
}
