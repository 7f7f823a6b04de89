/// What became of one published message.
public enum PublishOutcome: Sendable, Equatable {
    /// The broker has taken responsibility for it (a publisher confirm without a return before it).
    case confirmed
    /// It was mandatory and reached no queue (basic.return, code 312): it is stored nowhere.
    case returned(code: Int, text: String)
    /// It was sent, but no confirm was awaited, or none came within the patience given: it may be stored or not.
    case unconfirmed
}
