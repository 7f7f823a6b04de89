import Messages
import Testing

@testable import Reconciliation

/// What is a difference between what Apple signed and what the books say, and what is none.
@Suite struct PurchaseComparisonTests {
    static let key = PurchaseKey(environment: .production, transactionID: TransactionID("1"))
    private static let day: Int64 = 86_400_000
    private static let coins = [AssetAmount(asset: AssetID("COINS"), amount: 60)]

    /// A purchase that was granted for its order, as the books have it.
    static func granted(_ change: (inout PurchaseDetails) -> Void = { _ in }) -> PurchaseState {
        var details = PurchaseDetails(
            app: AppID("game"), productID: ProductID("p"), quantity: 1, purchaseDate: 1_000, signedDate: 2_000,
            revokedShare: 0)
        details.orderNumber = OrderNumber("IAP1")
        details.orderStatus = .completed
        details.grantedAt = 3_000
        details.appliedShare = 0
        details.amounts = coins
        details.expected = coins
        details.ledger = coins
        change(&details)
        var state = PurchaseState(key: key, outcome: .granted)
        state.details = details
        return state
    }

    /// What was verified of it.
    static func evidence(signed: Int64 = 2_000, share: Int64 = 0) -> PurchaseComparison.Evidence {
        .init(
            app: AppID("game"), orderNumber: OrderNumber("IAP1"), hasSubmitter: true, verifiedAt: 2_500,
            signedDate: signed, revocationDate: share > 0 ? signed : nil, revokedShare: share)
    }

    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let state: PurchaseState
        var evidence: PurchaseComparison.Evidence? = PurchaseComparisonTests.evidence()
        var isGrantedAsVerified = false
        let kinds: [FindingKind]
    }

    static let cases = [
        Case(testDescription: "all agree", state: granted(), kinds: []),
        Case(testDescription: "never heard of", state: .init(key: key, outcome: .unknown), kinds: [.purchaseUndecided]),
        Case(testDescription: "held", state: .init(key: key, outcome: .held), kinds: []),
        Case(
            testDescription: "a doubled line", state: granted { $0.ledger[0].amount = 120 }, kinds: [.amountDiffers]),
        Case(testDescription: "no line", state: granted { $0.ledger = [] }, kinds: [.amountDiffers]),
        Case(
            testDescription: "not what the product gives", state: granted { $0.expected?[0].amount = 61 },
            kinds: [.amountDiffers]),
        Case(testDescription: "a starter offer", state: granted { $0.expected = nil }, kinds: []),
        Case(
            testDescription: "its order waits", state: granted { $0.orderStatus = .created }, kinds: [.orderBehind]),
        Case(testDescription: "no order", state: granted { ($0.orderNumber, $0.orderStatus) = (nil, nil) }, kinds: []),
        Case(
            testDescription: "granted as verified, never verified", state: granted(), evidence: nil,
            isGrantedAsVerified: true, kinds: [.evidenceMissing]),
        Case(testDescription: "granted as Apple told", state: granted(), evidence: nil, kinds: []),
        Case(
            testDescription: "a refund that Granting does not know", state: granted(),
            evidence: evidence(signed: 4_000, share: 100_000), kinds: [.refundMissed]),
        Case(
            testDescription: "an older refund that was reversed since", state: granted { $0.signedDate = 5_000 },
            evidence: evidence(signed: 4_000, share: 100_000), kinds: []),
        Case(
            testDescription: "a newer statement of the same share", state: granted(), evidence: evidence(signed: 4_000),
            kinds: []),
    ]

    @Test(arguments: cases) func `each difference is named, and nothing else is one (A-122)`(one: Case) {
        let comparison = PurchaseComparison(
            evidence: one.evidence, state: one.state, isGrantedAsVerified: one.isGrantedAsVerified)
        #expect(comparison.differences() == one.kinds)
        #expect(one.kinds.map { comparison.finding($0).subject } == one.kinds.map { _ in "Production/1" })
    }

    @Test(arguments: [(0, 0, false), (86_400_000, 0, false), (86_400_001, 0, true), (90_000_000, 200_000_000, false)])
    func `a refund told more than a day after it, on the day it was told (C-093)`(
        delay: Int64, dayBegins: Int64, isLate: Bool
    ) {
        let state = Self.granted {
            $0.refundedAt = 10_000
            $0.refundProcessedAt = 10_000 + delay
        }
        let comparison = PurchaseComparison(evidence: Self.evidence(), state: state, isGrantedAsVerified: true)
        let found = comparison.differences(refundDay: dayBegins..<dayBegins + 2 * Self.day)
        #expect(found == (isLate ? [.refundLate] : []))
        #expect(comparison.differences() == [], "outside of a day's run nobody asks")
    }
}
