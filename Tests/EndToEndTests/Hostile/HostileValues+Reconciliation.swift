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

    /// A report of one line.
    static func sales(
        _ report: String = "550e8400-e29b-41d4-a716-446655440000", product: String = "p", begin: String = "2026-05-28",
        parts: Int64 = 1, units: Int64 = 1
    ) -> SalesImportRequested {
        SalesImportRequested(
            reportID: report, app: AppID("hostile"), begin: begin, end: "2026-05-28", part: 1, parts: parts,
            lines: [.init(productID: ProductID(product), storefront: "USA", sold: units, refunded: 0)],
            actor: "hostile")
    }

    func findingCommands() throws -> [Example] {
        let texts = try Self.texts.map { try example("accept by \($0)", nil, Self.accept(actor: $0, reason: $0)) }
        return texts + [
            try example("sales of NUL", Self.unreadable, Self.sales(product: Self.nul)),
            try example("sales of a megabyte", Self.unreadable, Self.sales(product: Self.megabyte)),
            try example("sales without a number", Self.unreadable, Self.sales("r")),
            try example("sales of no day", Self.unreadable, Self.sales(begin: "2026-02-30")),
            try example("sales from after their end", Self.unreadable, Self.sales(begin: "2026-05-29")),
            try example("sales of no parts", Self.unreadable, Self.sales(parts: 0)),
            try example("sales of the most units", Self.unreadable, Self.sales(units: .max)),
            try example("sales of less than none", Self.unreadable, Self.sales(units: -1)),
            try example("accept the smallest", nil, Self.accept(.min)),
            try example("accept by NUL", Self.unreadable, Self.accept(actor: Self.nul)),
            try example("accept without a reason", Self.unreadable, Self.accept(reason: "")),
            try example("accept for a megabyte", Self.unreadable, Self.accept(reason: Self.megabyte)),
            try example(
                "redrive the largest", nil, FindingRedriveRequested(finding: .max, actor: "hostile", reason: "x")),
        ]
    }
}
