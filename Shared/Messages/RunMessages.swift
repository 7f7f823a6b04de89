/// An operator wants a day compared now. As often as wanted: the same day gives the same report.
public struct ReconciliationRunRequested: Message {
    /// Routing key.
    public static var type: MessageType { .reconciliationRunRequested }
    /// The day by the clock of each app, `2026-11-30`.
    public var date: String
    /// Only of this app; nil: of all.
    public var app: AppID?

    /// Composes the request.
    public init(date: String, app: AppID?) {
        self.date = date
        self.app = app
    }
}

/// The run is written down and made as soon as those before it are done.
public struct ReconciliationRunAnswered: Message {
    /// Routing key of the type.
    public static var type: MessageType { .reconciliationRunAnswered }
    /// Its number among all that were asked for; nil: there is no such day.
    public var request: Int64?

    /// Composes the answer.
    public init(request: Int64?) { self.request = request }
}
