import AppStoreSimulation
import Observability
import Postgres

/// What nobody tells is found: the last scenes, in which reconciliation asks Apple.
extension DemoStory {
    /// Several passes, each of which begins seconds after the one before.
    private static let passes = Duration.seconds(60)

    /// Loses a purchase and a refund on the way from Apple; the next passes bring both in.
    func loseAndFind() throws {
        expectations.scene("19. Anna pays, her phone dies, and Apple's notification is lost: Apple's history knows it")
        try expectSoon("findings that wait before", 0, within: Self.passes) { try waitingFindings() }
        let before = try app.balance()["danbing"] ?? 0
        let lost = try purchase("pyy_danbing_300", try order("pyy_danbing_300"))
        try expectSoon("danbing, without client and notification", before + 300, within: Self.passes) {
            try app.balance()["danbing"]
        }
        expectations.scene("20. Apple refunds it, and that notification is lost too")
        _ = try store.refund(
            lost.transactionID, environment: "Production", notification: DeliveryPlan(isNever: true))
        try expectSoon("danbing, as before", before, within: Self.passes) { try app.balance()["danbing"] }
        try expectSoon("findings that wait afterwards", 0, within: Self.passes) { try waitingFindings() }
        guard let auditor else { return }
        expectations.expect(
            "cases of them (reconciliation.findings)", try Self.cases(of: lost.transactionID, auditor),
            ["notification_missed resolved", "notification_missed resolved"])
    }

    /// Findings that are neither resolved nor accepted; none where there is no database to ask.
    private func waitingFindings() throws -> Int64? {
        guard let auditor else { return 0 }
        return try Self.read(
            auditor, "SELECT count(*) AS n FROM reconciliation.findings WHERE state IN ('open', 'redriven')", []
        ) { try $0.int8("n") }.first
    }

    private static func cases(of transactionID: String, _ auditor: Secret) throws -> [String] {
        try read(
            auditor,
            """
            SELECT kind || ' ' || state AS line FROM reconciliation.findings WHERE transaction_id = $1 ORDER BY id
            """, [.text(transactionID)]
        ) { try $0.text("line") }
    }

    private static func read<Value>(
        _ auditor: Secret, _ sql: String, _ values: [SQLValue], _ body: (Row) throws -> Value
    ) throws -> [Value] {
        // The auditor's sessions are read-only, which is what a service takes for a replica.
        var connection = try Connection.open(
            Secret(auditor.reveal() + " target_session_attrs=any"), applicationName: "purser-drills")
        defer { connection.close() }
        return try connection.query(sql, values).map(body)
    }
}
