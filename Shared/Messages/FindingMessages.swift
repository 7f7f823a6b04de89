/// An operator lives with a finding: it stays on record and is opened no more while its cause lasts.
public struct FindingAcceptRequested: Message {
    /// Routing key.
    public static var type: MessageType { .findingAcceptRequested }
    /// The finding.
    public var finding: Int64
    /// Who, for the record.
    public var actor: String
    /// Why, for the record.
    public var reason: String

    /// Composes the request.
    public init(finding: Int64, actor: String, reason: String) {
        self.finding = finding
        self.actor = actor
        self.reason = reason
    }
}

/// An operator wants a finding's repair tried now: of a purchase, to have it decided anew.
public struct FindingRedriveRequested: Message {
    /// Routing key.
    public static var type: MessageType { .findingRedriveRequested }
    /// The finding.
    public var finding: Int64
    /// Who, for the record.
    public var actor: String
    /// Why, for the record.
    public var reason: String

    /// Composes the request.
    public init(finding: Int64, actor: String, reason: String) {
        self.finding = finding
        self.actor = actor
        self.reason = reason
    }
}

/// What came of an operator's word about a finding.
public struct FindingAnswered: Message {
    /// How it ended.
    public enum Outcome: String, Codable, Sendable {
        /// It is accepted.
        case accepted
        /// Its repair is under way.
        case redriven
        /// There is no finding of that number.
        case unknown
        /// It has ended before: resolved or accepted.
        case ended
        /// It is none that a repeated decision could mend.
        case notRedrivable = "not_redrivable"
    }

    /// Routing key of the type.
    public static var type: MessageType { .findingAnswered }
    /// How it ended.
    public var outcome: Outcome

    /// Composes the answer.
    public init(outcome: Outcome) { self.outcome = outcome }
}
