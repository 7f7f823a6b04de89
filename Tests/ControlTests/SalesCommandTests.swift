import Foundation
import Messages
import Pipeline
import SalesReports
import TestSupport
import Testing

@testable import Control

/// `purser sales import`: from a file to what is handed in.
@Suite struct SalesCommandTests {
    private static func report(_ lines: [String]) throws -> SalesReport {
        let heading = [
            "SKU", "Product Type Identifier", "Units", "Begin Date", "End Date", "Country Code", "Parent Identifier",
            "Developer Proceeds", "Currency of Proceeds", "Customer Price", "Customer Currency",
        ]
        let text = ([heading.joined(separator: "\t")] + lines.map { $0.replacing("|", with: "\t") })
            .joined(separator: "\n")
        return try SalesReport(Array(text.utf8))
    }

    @Test func `units and refunds of a product in a storefront are added up, each span of days by itself (C-119)`()
        throws
    {
        let report = try Self.report([
            "coins60|IA1|3|05/28/2026|05/28/2026|US|game|0.85|USD|1.00|USD",
            "coins60|IA1|1|05/28/2026|05/28/2026|US|game|1.70|USD|2.00|USD",
            "coins60|IA1|-2|05/28/2026|05/28/2026|US|game|-0.85|USD|-1.00|USD",
            "coins60|IA1|5|05/28/2026|05/28/2026|DE|game|0.70|EUR|1.19|USD",
            "coins60|IA1|7|05/29/2026|05/29/2026|US|game|||0|USD",
            "coins60|IA1|9|05/28/2026|05/28/2026|US|other|0.85|USD|1.00|USD",
            "game|1F|100|05/28/2026|05/28/2026|US||0|USD|0|USD",
        ])
        let all = try SalesSummary.all(of: report, parent: "game")
        #expect(all.map { "\($0.begin)" } == ["2026-05-28", "2026-05-29"])
        let coins = ProductID("coins60")
        #expect(
            all[0].lines == [
                .init(productID: coins, storefront: "DEU", sold: 5, refunded: 0),
                .init(productID: coins, storefront: "USA", sold: 4, refunded: 2, commission: 15_000),
            ])
        #expect(all[1].lines == [.init(productID: coins, storefront: "USA", sold: 7, refunded: 0)])
        #expect(try SalesSummary.all(of: report, parent: nil)[0].lines[1].sold == 13)
    }

    @Test func `a large report is handed in by parts under one number, the same lines always under the same`() throws {
        let lines = (1...2_001).map { "p\($0)|IA1|1|05/28/2026|05/28/2026|US|game|0.85|USD|1.00|USD" }
        let summary = try #require(try SalesSummary.all(of: Self.report(lines), parent: nil).first)
        let parts = summary.parts(app: AppID("game"), actor: "a")
        #expect(parts.map(\.lines.count) == [1_000, 1_000, 1] && parts.map(\.part) == [1, 2, 3])
        #expect(Set(parts.map(\.reportID)).count == 1 && parts.allSatisfy { $0.parts == 3 })
        let shuffled = try #require(try SalesSummary.all(of: Self.report(lines.reversed()), parent: nil).first)
        #expect(shuffled.parts(app: AppID("game"), actor: "b").first?.reportID == parts[0].reportID)
        #expect(summary.parts(app: AppID("other"), actor: "a").first?.reportID != parts[0].reportID)
    }

    @Test func `a country that there is none of is named with its line`() throws {
        let report = try Self.report(["coins60|IA1|3|05/28/2026|05/28/2026|QQ|game|0.85|USD|1.00|USD"])
        #expect(throws: WordProblem(text: "line 2: no country has the code QQ")) {
            try SalesSummary.all(of: report, parent: nil)
        }
    }

    @Test(arguments: [
        "", "import", "import f --app a", "import --app a --actor b", "list f --app a --actor b",
        "import f g --app a --actor b",
    ])
    func `wrong words are refused`(text: String) {
        #expect(throws: WordProblem.self) { _ = try SalesCommand.Options(text.split(separator: " ").map(String.init)) }
    }

    @Test func `a dry run tells what would be handed in, a file that is none what is wrong`() async throws {
        let folder = NSTemporaryDirectory() + "purser-sales-" + UUIDText.random()
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let file = folder + "/report.txt"
        try Data(
            ("SKU\tProduct Type Identifier\tUnits\tBegin Date\tEnd Date\tCountry Code\tParent Identifier\n"
                + "c\tIA1\t2\t05/28/2026\t05/28/2026\tFR\tgame\n").utf8
        ).write(to: URL(fileURLWithPath: file))
        var lines: [String] = []
        let words = ["import", "--app", "game", "--actor", "a", "--dry-run", file]
        #expect(await SalesCommand(output: { lines.append($0) }, environment: [:]).run(arguments: words) == 0)
        #expect(lines == ["2026-05-28 to 2026-05-28: 1 products and storefronts, 2 sold, 0 given back"])
        lines = []
        let missing = ["import", "--app", "game", "--actor", "a", file + "x"]
        #expect(await SalesCommand(output: { lines.append($0) }, environment: [:]).run(arguments: missing) == 2)
        #expect(lines.first?.hasSuffix("cannot be read") == true)
    }
}
