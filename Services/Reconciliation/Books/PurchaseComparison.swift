import JSON
import Messages

/// What Apple signed about a purchase against what the books say of it. Pure.
struct PurchaseComparison {
    /// What was verified; nil: nothing.
    let evidence: Evidence?
    /// What the books say.
    let state: PurchaseState
    /// Whether the stream shows it granted on Verification's word.
    let isGrantedAsVerified: Bool

    /// The part of a verified statement that the books must reflect.
    struct Evidence: Equatable {
        let app: AppID
        let orderNumber: OrderNumber?
        let hasSubmitter: Bool
        let verifiedAt: Int64
        let signedDate: Int64
        let revocationDate: Int64?
        let revokedShare: Int64
    }

    /// A refund whose news takes longer is looked at by a person (ms): C-093 says 24 hours.
    static let lateRefund: Int64 = 86_400_000

    /// What does not agree, each kind once. `refundDay` is the day whose refunds are looked at for their delay.
    func differences(refundDay: Range<Int64>? = nil) -> [FindingKind] {
        guard let details = state.details else {
            return state.outcome == .unknown && evidence != nil ? [.purchaseUndecided] : []
        }
        var kinds: [FindingKind] = []
        if evidence == nil, isGrantedAsVerified { kinds.append(.evidenceMissing) }
        if details.grantedAt != nil {
            let given = Self.sorted(details.amounts)
            let isExpected = details.expected.map { Self.sorted($0) == given } ?? true
            if Self.sorted(details.ledger) != given || !isExpected { kinds.append(.amountDiffers) }
            if details.orderNumber != nil, details.orderStatus != .completed { kinds.append(.orderBehind) }
        }
        if isRefundMissing(details) { kinds.append(.refundMissed) }
        if let refundDay, let refunded = details.refundedAt, let told = details.refundProcessedAt,
            refundDay.contains(told), told - refunded > Self.lateRefund
        {
            kinds.append(.refundLate)
        }
        return kinds
    }

    /// Apple's newest statement takes back another share than the newest one that Granting knows.
    private func isRefundMissing(_ details: PurchaseDetails) -> Bool {
        guard let evidence else { return false }
        return evidence.signedDate > details.signedDate && evidence.revokedShare != details.revokedShare
    }

    private static func sorted(_ amounts: [AssetAmount]) -> [AssetAmount] {
        amounts.filter { $0.amount != 0 }.sorted { $0.asset.rawValue < $1.asset.rawValue }
    }

    /// The case about it.
    func finding(_ kind: FindingKind) -> NewFinding {
        let details = state.details
        var seen: JSONObject = [
            "outcome": .string(state.outcome.rawValue), "hasSubmitter": .bool(evidence?.hasSubmitter ?? false),
            "verifiedAt": evidence.map { .integer($0.verifiedAt) } ?? .null,
        ]
        switch kind {
        case .amountDiffers:
            seen.set("lots", Self.json(details?.amounts ?? []))
            seen.set("ledger", Self.json(details?.ledger ?? []))
            if let expected = details?.expected { seen.set("product", Self.json(expected)) }
        case .orderBehind: seen.set("orderStatus", .string(details?.orderStatus?.rawValue ?? ""))
        case .refundMissed, .refundLate:
            seen.set("signedShare", .integer(evidence?.revokedShare ?? 0))
            seen.set("knownShare", .integer(details?.revokedShare ?? 0))
            if let refunded = details?.refundedAt ?? evidence?.revocationDate {
                seen.set("refundedAt", .integer(refunded))
            }
            if let told = details?.refundProcessedAt { seen.set("processedAt", .integer(told)) }
        default: break
        }
        return NewFinding(
            kind, subject: state.key.description, app: evidence?.app ?? details?.app, purchase: state.key,
            orderNumber: details?.orderNumber ?? evidence?.orderNumber, evidence: seen)
    }

    private static func json(_ amounts: [AssetAmount]) -> JSONValue {
        .object(
            amounts.reduce(into: JSONObject()) { $0.set($1.asset.rawValue, .integer($1.amount)) })
    }
}

extension PurchaseComparison.Evidence {
    /// What Verification tells of a purchase; nil if it does not tell what Apple signed.
    init?(_ entry: EvidenceEntry) {
        guard let statement = entry.statement else { return nil }
        self.init(
            app: entry.app, orderNumber: entry.orderNumber, hasSubmitter: entry.hasSubmitter,
            verifiedAt: entry.verifiedAt, signedDate: statement.signedDate, revocationDate: statement.revocationDate,
            revokedShare: statement.revokedShare)
    }
}
