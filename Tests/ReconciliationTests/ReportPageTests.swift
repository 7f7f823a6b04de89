import JSON
import Messages
import Testing

@testable import Reconciliation

/// What a report looks like, whatever is in it.
@Suite struct ReportPageTests {
    private static func report(
        rows: [[String]] = [["1", "x"]], values: [Int64] = [0, 3, 12], series: [String] = ["Purchases"]
    ) -> DayReport {
        DayReport(
            plan: DayPlan(app: "<b>game</b>", day: "2026-05-28", timeZone: "Asia/Shanghai", from: 0, to: 86_400_000),
            figures: [
                .init(name: "Purchases", value: "15"), .init(name: "Findings waiting", value: "2", isAlarming: true),
            ],
            charts: [
                .init(
                    title: "Purchases by hour", labels: values.indices.map { "0\($0)" },
                    series: series.map { ($0, values) }, unit: "purchases")
            ],
            tables: [.init(title: "Findings that wait", columns: ["id", "about"], rows: rows, empty: "None.")],
            summary: [:], madeAt: "2026-05-29 00:15")
    }

    private static let hostile = [
        "<script>alert(1)</script>", "a|b", "\"><img src=x onerror=y>", "line\nbreak", "[x](javascript:y)",
        "**bold**",
    ]

    @Test(arguments: hostile) func `what others wrote stays text on both pages`(text: String) {
        let report = Self.report(rows: [["1", text]])
        let html = HTMLPage.render(report)
        #expect(!html.contains(text) || text == "a|b" || text.hasPrefix("[") || text.hasPrefix("*"))
        #expect(!html.contains("<script") && !html.contains("<img"))
        let markdown = MarkdownPage.render(report)
        #expect(!markdown.contains("<") && !markdown.contains(text))
        let line = markdown.split(separator: "\n").first { $0.hasPrefix("| 1 |") }
        #expect(line?.replacing("\\|", with: "").filter { $0 == "|" }.count == 3)
    }

    @Test func `a page needs nothing else: no script, no address, one column, light and dark`() {
        let html = HTMLPage.render(Self.report())
        for word in ["<script", "http:", "https:", "src=", "href=", "@import", "url("] {
            #expect(!html.contains(word), "\(word)")
        }
        #expect(html.contains("name=\"viewport\"") && html.contains("prefers-color-scheme:dark"))
        #expect(html.contains("<svg") && html.contains("aria-label=\"Purchases by hour: at most 12 purchases\""))
        #expect(html.contains("class=\"alarm\""))
    }

    @Test func `a column of numbers stands right with its head, one with a word in it left`() {
        let html = HTMLPage.render(Self.report(rows: [["1", "2"], ["–", "x"], ["30", "4"]]))
        #expect(html.contains("<th scope=\"col\" class=\"number\">id</th><th scope=\"col\">about</th>"))
        #expect(html.contains("<td class=\"number\">–</td><td>x</td>"))
    }

    @Test func `bars are as high as their values, and nothing to draw is a word`() {
        let svg = SVGChart.render(Self.report().charts[0])
        #expect(svg.ranges(of: "<rect").count == 2)
        // 12 of 20, of 148 pixels.
        #expect(svg.contains("height=\"88.8\"") && svg.contains(">02: 12 purchases<"))
        #expect(SVGChart.render(Self.report(values: [0, 0]).charts[0]) == "<p class=\"quiet\">None.</p>")
        let two = SVGChart.render(Self.report(series: ["a", "b"]).charts[0])
        #expect(two.ranges(of: "<rect").count == 4 && two.contains("a 15"))
    }

    @Test(arguments: [(1, 1), (1.5, 2), (3, 4), (5, 10), (10, 10), (11, 20), (999, 1_000), (1_001, 2_000)])
    func `an axis ends at the next round number`(most: Double, scale: Double) {
        #expect(SVGChart.scale(most) == scale)
    }

    @Test(arguments: [
        (0, "0"), (7, "7"), (950, "950"), (1_500, "1.5k"), (20_000, "20k"), (3_200_000, "3.2M"), (0.5, "0.5"),
    ])
    func `numbers on an axis are short`(number: Double, text: String) {
        #expect(SVGChart.number(number) == text)
    }

    @Test(arguments: [
        (197, 200, "98.5 % (197 of 200)"), (1, 3, "33.3 % (1 of 3)"), (0, 0, "–"),
        (1_999, 2_000, "99.9 % (1999 of 2000)"),
    ])
    func `a share is never rounded up`(part: Int64, whole: Int64, text: String) {
        #expect(Permille.text(part, of: whole) == text)
    }

    @Test(arguments: [
        ("2026-11-30", true), ("2024-02-29", true), ("2026-02-29", false), ("2026-13-01", false), ("2026-1-1", false),
        ("2026-00-10", false), ("2026-01-00", false), ("26-01-01", false), ("2026-01-0١", false), ("", false),
    ]) func `days that exist`(day: String, exists: Bool) {
        #expect(DayPlan.isDay(day) == exists)
    }

    @Test func `wallets add up page by page, of the app alone, and never overflow`() {
        let (game, other) = (AppID("game"), AppID("other"))
        var books = DayBooks(app: game)
        for page in 0..<3 {
            books.add(
                BooksPageAnswered(
                    customers: 1, last: nil, hasMore: false, differences: [],
                    totals: [
                        .init(app: game, asset: AssetID("A"), accounts: 1, balance: .max / 2, owed: 1),
                        .init(app: other, asset: AssetID("A"), accounts: 1, balance: 5, owed: 1),
                    ],
                    risks: (0..<30).map {
                        .init(app: game, customer: CustomerID("\(page) \($0)"), flags: Int64($0), lastAt: 0)
                    }))
        }
        #expect(
            books.totals[AssetID("A")] == .init(app: game, asset: AssetID("A"), accounts: 3, balance: .max, owed: 3))
        #expect(books.risks.count == DayBooks.mostRisks && books.risks.first?.flags == 29)
    }
}
