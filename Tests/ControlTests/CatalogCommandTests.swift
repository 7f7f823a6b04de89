import Glibc
import Messages
import Testing

@testable import Control

/// `purser catalog import` as far as it goes without a broker.
@Suite struct CatalogCommandTests {
    static let words: [(String, Bool)] = [
        ("import apps/one.yaml", true), ("import --yes --actor me apps/one.yaml", true), ("import --app one", true),
        ("import --csv p.csv --rewards r.csv", true), ("import --csv p.csv --rewards r.csv --app one --check", true),
        ("import", false), ("export apps/one.yaml", false), ("import --csv p.csv apps/one.yaml", false),
        ("import --rewards p.csv apps/one.yaml", false), ("import --app one apps/one.yaml", false),
        ("import --check --yes apps/one.yaml", false), ("import --dry-run --yes apps/one.yaml", false),
        ("import --app --check", false), ("import --what apps/one.yaml", false), ("import a.yaml b.yaml", false),
    ]

    @Test(arguments: words) func `what is asked for is understood or refused`(words: String, isUnderstood: Bool) {
        let options = CatalogOptions(words.split(separator: " ").map(String.init), actor: "me")
        #expect((options != nil) == isUnderstood)
    }

    private static let app = """
        id: one
        surface: orders
        hosts: [one.example]
        bundleIds: [com.example.one]
        appAppleId: 7
        environments: [Production]
        loginTokens: {issuer: i, audience: a, keys: [{id: k, algorithm: HS256, secretFile: login.secret}]}
        assets: [{id: DIAMOND, jsonName: diamonds, insufficientCode: BALANCE_NOT_ENOUGH}]
        products: [{code: A, appleProductId: a, type: consumable, grants: [{asset: DIAMOND, amount: 1}]}]
        policies: {sandbox: nobody}

        """
    private static let files = [
        "one.yaml": app,
        "p.csv": "productId,name,type,rewardId,price\na.gem,n,consumable,1,6\nb.gem2,n,consumable,1,6\n",
        "r.csv": "1,diamond,0,0,60,60,,r\n", "bad.csv": "productId,name,type,rewardId,price\na.gem,n,toy,2,6\nx,y\n",
    ]

    /// Runs the command in a folder with an app and CSV files; returns its status and lines.
    private func run(_ words: String) async throws -> (status: Int32, lines: [String]) {
        var template = Array("/tmp/purser-control-XXXXXX".utf8CString)
        try #require(mkdtemp(&template) != nil)
        let folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self) + "/"
        for (name, text) in Self.files {
            let file = try #require(fopen(folder + name, "w"))
            fputs(text, file)
            fclose(file)
        }
        defer {
            for name in Self.files.keys { unlink(folder + name) }
            rmdir(folder)
        }
        var lines: [String] = []
        let arguments = words.split(separator: " ").map { String($0).replacing("@", with: folder) }
        let status = await CatalogCommand(output: { lines.append($0) }, environment: [:]).run(
            arguments: ["import"] + arguments)
        return (status, lines.map { $0.replacing(folder, with: "") })
    }

    @Test func `a check asks nobody and says how much there is`() async throws {
        let own = try await run("--check @one.yaml")
        #expect(own.status == 0 && own.lines == ["one is fine: 1 product(s), 1 asset(s); nothing was sent"])
        let sheets = try await run("--check --csv @p.csv --rewards @r.csv @one.yaml")
        #expect(sheets.status == 0 && sheets.lines == ["one is fine: 2 product(s), 1 asset(s); nothing was sent"])
    }

    @Test func `every bad line is told with its file, and nothing is sent (C-003)`() async throws {
        let (status, lines) = try await run("--yes --csv @bad.csv --rewards @r.csv @one.yaml")
        #expect(status == 2)
        #expect(
            lines == [
                "bad.csv:2:9: the type must be one of: auto_renewable, consumable, non_consumable, non_renewing",
                "bad.csv:2:13: reward 2 is not in the rewards' file; a card without one needs an entitlement",
                "bad.csv:3:1: a product has 5 values as the heading has, here are 2",
                "nothing was sent: 3 problem(s) in the apps' files",
            ])
    }

    @Test func `a file that is no app's is refused`() async throws {
        let (status, lines) = try await run("--check @two.yaml")
        #expect(status == 2 && lines.first == "two.yaml is no app's file; write the path of an apps/<id>.yaml")
    }
}
