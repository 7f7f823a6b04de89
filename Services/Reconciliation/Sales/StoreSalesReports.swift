import Messages
import Observability
import Pipeline
import Postgres
import SalesReports

/// Keeps the sales reports that operators hand in, part by part. A part that comes twice changes nothing.
struct StoreSalesReports: Handler {
    private let logger: Logger
    private let now: @Sendable () -> Int64

    init(logger: Logger, now: @escaping @Sendable () -> Int64 = { WallClock.milliseconds }) {
        self.logger = logger
        self.now = now
    }

    mutating func handle(_ batch: [Incoming], in transaction: inout Transaction) throws -> [Outcome] {
        var outcomes: [Outcome] = []
        for incoming in batch {
            guard let part = incoming.read(SalesImportRequested.self), Self.isStorable(part) else {
                outcomes.append(.park(reason: Incoming.unreadable))
                continue
            }
            outcomes.append(try store(part, incoming.header, in: &transaction))
        }
        return outcomes
    }

    private func store(
        _ part: SalesImportRequested, _ header: MessageHeader, in transaction: inout Transaction
    ) throws -> Outcome {
        let report = SQLValue.uuid(UUIDText.parse(part.reportID))
        _ = try transaction.query(
            """
            INSERT INTO reconciliation.sales_reports (report, app, begin_day, end_day, parts, actor, imported_at)
            VALUES ($1, $2, $3::text::date, $4::text::date, $5, $6, $7) ON CONFLICT (report) DO NOTHING
            """,
            [
                report, .text(part.app.rawValue), .text(part.begin), .text(part.end), .int8(part.parts),
                .text(part.actor), .int8(now()),
            ])
        _ = try transaction.query(
            """
            WITH part AS (
                INSERT INTO reconciliation.sales_parts (report, part)
                SELECT report, $2 FROM reconciliation.sales_reports WHERE report = $1 AND $2 <= parts
                ON CONFLICT DO NOTHING RETURNING report)
            INSERT INTO reconciliation.sales_lines (report, product_id, storefront, sold, refunded, commission)
            SELECT part.report, given.product_id, given.storefront, given.sold, given.refunded, given.commission
            FROM part, unnest($3::text[], $4::text[], $5::bigint[], $6::bigint[], $7::bigint[])
                AS given(product_id, storefront, sold, refunded, commission)
            ON CONFLICT DO NOTHING
            """,
            [
                report, .int8(part.part), .textArray(part.lines.map(\.productID.rawValue)),
                .textArray(part.lines.map(\.storefront)), .int8Array(part.lines.map(\.sold)),
                .int8Array(part.lines.map(\.refunded)), .int8Array(part.lines.map(\.commission)),
            ])
        let row = try transaction.query(
            """
            SELECT (SELECT count(*) FROM reconciliation.sales_parts p WHERE p.report = r.report) AS there, r.parts
            FROM reconciliation.sales_reports r WHERE r.report = $1
            """, [report]
        ).single()
        let there = try row.int8("there")
        let isComplete = try row.int8("parts") == there
        logger.info(
            "a part of a sales report is stored",
            [
                "correlation.id": .string(header.correlationID), "app": .string(part.app.rawValue),
                "lines": .int(part.lines.count), "complete": .bool(isComplete),
            ])
        return .done(facts: [], reply: try Reply(SalesImportAnswered(parts: there, isComplete: isComplete)))
    }

    /// Bytes of an app's id, a product's id or an actor's name at most.
    private static let longestText = 255
    /// Units of a line at most: far above what is sold, far below what could overflow when added up.
    private static let units: ClosedRange<Int64> = 0...1_000_000_000_000

    private static func isStorable(_ part: SalesImportRequested) -> Bool {
        let texts = [part.app.rawValue, part.actor] + part.lines.flatMap { [$0.productID.rawValue, $0.storefront] }
        let areTextsRight = texts.allSatisfy {
            !$0.isEmpty && $0.utf8.count <= longestText && !$0.utf8.contains(0)
        }
        return areTextsRight && UUIDText.parse(part.reportID) != nil && isDay(part.begin) && isDay(part.end)
            && part.begin <= part.end && (1...SalesImportRequested.mostParts).contains(part.parts)
            && (1...part.parts).contains(part.part) && part.lines.count <= SalesImportRequested.mostLines
            && part.lines.allSatisfy {
                units.contains($0.sold) && units.contains($0.refunded)
                    && ($0.commission.map { (-100_000...100_000).contains($0) } ?? true)
            }
    }

    private static func isDay(_ text: String) -> Bool {
        text.utf8.count == 10 && CalendarDay(text).map { "\($0)" == text } ?? false
    }
}
