import Messages
import Pipeline

/// A request to say a verified purchase again, whoever made it.
struct EvidenceRedrive {
    let kind: Kind
    let request: String
    let environment: StoreEnvironment
    let transactionID: TransactionID
    /// For whom, if not for whoever handed it in.
    let userID: UserID?
    let actor: String
    let reason: String

    /// Who may want it.
    enum Kind: String {
        /// Reconciliation, or an operator about a finding.
        case redrive
        /// An operator.
        case regrant
    }

    /// Bytes of an actor's name, a reason, a user id or a request's id at most.
    private static let longestText = 1_000

    /// Nil if it is none that could be kept.
    init?(_ incoming: Incoming) {
        if let asked = incoming.read(EvidenceRedriveRequested.self) {
            (kind, request, userID) = (.redrive, incoming.header.id.rawValue, nil)
            (environment, transactionID) = (asked.environment, asked.transactionID)
            (actor, reason) = (asked.actor, asked.reason)
        } else if let asked = incoming.read(RegrantRequested.self) {
            (kind, request, userID) = (.regrant, asked.requestID, asked.userID)
            (environment, transactionID) = (asked.environment, asked.transactionID)
            (actor, reason) = (asked.actor, asked.reason)
        } else {
            return nil
        }
        let texts = [request, transactionID.rawValue, actor, reason, userID?.rawValue ?? "-"]
        let isStorable = texts.allSatisfy {
            !$0.isEmpty && $0.utf8.count <= Self.longestText && !$0.utf8.contains(0)
        }
        guard isStorable else { return nil }
    }
}
