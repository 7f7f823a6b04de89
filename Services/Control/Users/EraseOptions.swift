import Messages

/// What `purser users erase` was asked for.
struct EraseOptions: Equatable {
    /// The app.
    var app: AppID
    /// Whom.
    var user: UserID
    /// Who decided it and why; nil: only to be shown.
    var decision: Decision?

    /// A decision for the record.
    struct Decision: Equatable {
        var actor: String
        var reason: String
    }

    /// Nil if the words are no usage.
    init?(_ arguments: [String]) {
        guard arguments.first == "erase",
            let words = try? CommandWords(
                Array(arguments.dropFirst()), values: ["--app", "--user", "--actor", "--reason"],
                flags: ["--yes", "--dry-run"]),
            words.plain.isEmpty,
            let app = words["--app"], let user = words["--user"], !(words.has("--yes") && words.has("--dry-run"))
        else { return nil }
        self.app = AppID(app)
        self.user = UserID(user)
        guard words.has("--yes") else { return }
        guard let actor = words["--actor"], let reason = words["--reason"] else { return nil }
        decision = Decision(actor: actor, reason: reason)
    }
}
