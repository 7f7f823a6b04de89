import Messages

/// What is asked of Verification and Reconciliation about what is on record.
extension HostileValues {
    private static let unreadable = "message.body_unreadable"

    /// A purchase that nobody has handed in is to be said again.
    static func again(
        _ id: String, actor: String = "hostile", reason: String = "hostile"
    ) -> EvidenceRedriveRequested {
        EvidenceRedriveRequested(
            environment: .production, transactionID: TransactionID(id), actor: actor, reason: reason)
    }

    /// A finding that is not there is to be accepted.
    static func accept(
        _ finding: Int64 = .max, actor: String = "hostile", reason: String = "hostile"
    ) -> FindingAcceptRequested {
        FindingAcceptRequested(finding: finding, actor: actor, reason: reason)
    }

    func evidenceCommands() throws -> [Example] {
        func regrant(_ request: String, _ user: String) -> RegrantRequested {
            RegrantRequested(
                requestID: request, environment: .sandbox, transactionID: TransactionID("1"), userID: UserID(user),
                actor: "hostile", reason: "hostile")
        }
        let texts = try Self.texts.flatMap { text in
            [
                try example("again \(text)", nil, Self.again(text, actor: text, reason: text)),
                try example("regrant \(text)", nil, regrant(text, text)),
            ]
        }
        return texts + [
            try example("again NUL", Self.unreadable, Self.again(Self.nul)),
            try example("again by NUL", Self.unreadable, Self.again("1", actor: Self.nul)),
            try example("again a megabyte", Self.unreadable, Self.again(Self.megabyte)),
            try example("again nothing", Self.unreadable, Self.again("")),
            try example("again without a reason", Self.unreadable, Self.again("1", reason: "")),
            try example("regrant for nobody", Self.unreadable, regrant("r", "")),
            try example("regrant for NUL", Self.unreadable, regrant("r", Self.nul)),
        ]
    }

    func findingCommands() throws -> [Example] {
        let texts = try Self.texts.map { try example("accept by \($0)", nil, Self.accept(actor: $0, reason: $0)) }
        return texts + [
            try example("accept the smallest", nil, Self.accept(.min)),
            try example("accept by NUL", Self.unreadable, Self.accept(actor: Self.nul)),
            try example("accept without a reason", Self.unreadable, Self.accept(reason: "")),
            try example("accept for a megabyte", Self.unreadable, Self.accept(reason: Self.megabyte)),
            try example(
                "redrive the largest", nil, FindingRedriveRequested(finding: .max, actor: "hostile", reason: "x")),
        ]
    }
}
