import JSON
import Messages

/// Something that does not agree, before it is a case.
struct NewFinding: Sendable, Equatable {
    let kind: FindingKind
    /// What it is about; with the kind the cause, of which there is one case.
    let subject: String
    let app: AppID?
    let purchase: PurchaseKey?
    let orderNumber: OrderNumber?
    /// What was seen, free of payloads and persons.
    let evidence: JSONObject

    /// Composes it.
    init(
        _ kind: FindingKind, subject: String, app: AppID? = nil, purchase: PurchaseKey? = nil,
        orderNumber: OrderNumber? = nil, evidence: JSONObject
    ) {
        self.kind = kind
        self.subject = subject
        self.app = app
        self.purchase = purchase
        self.orderNumber = orderNumber
        self.evidence = evidence
    }

    /// About a purchase that was verified.
    static func purchase(_ kind: FindingKind, _ entry: EvidenceEntry, _ state: PurchaseState) -> NewFinding {
        var evidence: JSONObject = [
            "outcome": .string(state.outcome.rawValue), "verifiedAt": .integer(entry.verifiedAt),
            "hasSubmitter": .bool(entry.hasSubmitter),
        ]
        if let reason = state.reason { evidence.set("reason", .string(reason.rawValue)) }
        return NewFinding(
            kind, subject: entry.key.description, app: entry.app, purchase: entry.key, orderNumber: entry.orderNumber,
            evidence: evidence)
    }

    /// Parked messages of a queue.
    static func parked(_ count: Int, in queue: String) -> NewFinding {
        NewFinding(.messagesParked, subject: queue, evidence: ["messages": .integer(Int64(count))])
    }

    /// A product in a storefront that Apple counted otherwise.
    static func sales(_ subject: String, app: AppID, _ evidence: JSONObject) -> NewFinding {
        NewFinding(.salesDiffer, subject: subject, app: app, evidence: evidence)
    }

    /// Facts that can be read no more.
    static func journalGap(from next: Int64, to first: Int64) -> NewFinding {
        NewFinding(
            .journalGap, subject: "\(next)-\(first)", evidence: ["from": .integer(next), "to": .integer(first)])
    }

    /// The stream has begun anew.
    static func streamReplaced(at next: Int64) -> NewFinding {
        NewFinding(.streamReplaced, subject: String(next), evidence: ["readUpTo": .integer(next)])
    }

    /// A message of the stream that cannot be kept.
    static func factUnreadable(at offset: Int64, reason: String) -> NewFinding {
        NewFinding(
            .factUnreadable, subject: String(offset),
            evidence: ["offset": .integer(offset), "reason": .string(reason)])
    }
}
