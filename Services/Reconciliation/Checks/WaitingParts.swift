import Messages

/// Purchases that waited, by what became of them.
struct WaitingParts {
    /// Decided: they wait no more.
    private(set) var over: [EvidenceEntry] = []
    /// Granting knows nothing of them any more.
    private(set) var lost: [EvidenceEntry] = []
    /// Still held or unclaimed.
    private(set) var waiting: [EvidenceEntry] = []
    /// What somebody should look at.
    private(set) var findings: [NewFinding] = []

    /// - Parameter limit: how long a purchase may wait before it is a finding (ms).
    init(_ entries: [EvidenceEntry], _ states: [PurchaseKey: PurchaseState], now: Int64, limit: Int64) {
        for entry in entries {
            guard let state = states[entry.key] else { continue }
            switch state.outcome {
            case .granted, .refunded, .beside: over.append(entry)
            case .unknown:
                lost.append(entry)
                findings.append(.purchase(.purchaseUndecided, entry, state))
            case .held, .unclaimed:
                waiting.append(entry)
                guard now - entry.verifiedAt >= limit else { continue }
                let kind: FindingKind = state.outcome == .held ? .purchaseHeld : .purchaseUnclaimed
                findings.append(.purchase(kind, entry, state))
            }
        }
    }
}
