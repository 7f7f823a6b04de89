import Apps
import Messages
import Testing
import YAML

@Suite struct AppsDirectoryTests {
    /// The problems of a folder with these files, each without the folder in front.
    private static func problems(_ files: [String: String]) throws -> [String] {
        let folder = try TemporaryFolder()
        for (name, text) in files { try folder.write(name, text) }
        switch AppsDirectory.load(folder.path) {
        case .success: return []
        case .failure(let error):
            return error.problems.map {
                $0.description.split(separator: folder.path, omittingEmptySubsequences: false).joined()
            }
        }
    }

    private static let shipped: String =
        #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3).joined(separator: "/") + "/apps"

    @Test func `the shipped example has document A's products and policies (A-011…A-022, A-050…A-060)`() throws {
        let apps = try AppsDirectory.load(Self.shipped).get()
        let app = try #require(apps.first { $0.id == AppID("cloudpc") })
        #expect(app.surface == .orders)
        #expect(app.hosts == [])
        #expect(app.bundleIDs == ["com.bujingyun.pyydn"])
        #expect(app.appAppleID == 1_234_567_890)
        #expect(app.environments == [.production, .sandbox])
        #expect(app.loginTokens.audience == "cloudpc")
        #expect(app.loginTokens.keys.first?.file == Self.shipped + "/keys/cloudpc-login.secret")
        let products = app.catalog.definition.products.sorted { $0.sort < $1.sort }
        let seen = products.map { "\($0.code) \($0.productID) \($0.amounts.map { "\($0.amount) \($0.asset)" })" }
        #expect(
            seen == [
                #"DANBING_60 pyy_danbing_60 ["60 DANBING"]"#, #"DANBING_300 pyy_danbing_300 ["300 DANBING"]"#,
                #"DANBING_680 pyy_danbing_680 ["680 DANBING"]"#,
                #"TIMECARD_30M pyy_timecard_30m ["30 TIME_MINUTES"]"#,
                #"TIMECARD_60M pyy_timecard_60m ["60 TIME_MINUTES"]"#,
                #"TIMECARD_180M pyy_timecard_180m ["180 TIME_MINUTES"]"#,
                #"TIMECARD_600M pyy_timecard_600m ["600 TIME_MINUTES"]"#,
            ])
        #expect(products.allSatisfy { $0.productType == "Consumable" && $0.isEnabled })
        #expect(app.catalog.asset(AssetID("TIME_MINUTES"))?.jsonName == "timeMinutes")
        #expect(app.catalog.asset(AssetID("TIME_MINUTES"))?.insufficientCode == .timeNotEnough)
        let policies = app.catalog.definition.policies
        #expect(policies.sandboxAudience == .listed)
        #expect(policies.orderExpiryHours == 24)
        #expect(!policies.requiresAppAccountToken)
    }

    @Test func `everything a file says arrives`() throws {
        let folder = try TemporaryFolder()
        try folder.write("one.yaml", AppText.make(prefix: "/one/v1"))
        let app = try #require(try AppsDirectory.load(folder.path).get().first)
        #expect(app.hosts == ["one.example"])
        #expect(app.pathPrefix == "/one/v1")
        #expect(app.serviceTokens?.keys.first?.algorithm == .es256)
        #expect(app.serviceTokens?.keys.first?.file == folder.path + "service.pem")
        let vip = try #require(app.catalog.product(ProductID("vip")))
        #expect(vip.productType == "Non-Consumable")
        #expect(vip.amounts == [])
        #expect(vip.entitlement == "vip")
        #expect(vip.entitlementDays == 30)
        #expect(!vip.isEnabled)
        let policies = app.catalog.definition.policies
        #expect(policies.reviewers == [UserID("10001")])
        #expect(policies.testers == [UserID("t")])
        #expect(policies.requiresAppAccountToken)
        #expect(policies.orderExpiryHours == 48)
    }

    @Test func `days are counted by the app's own clock, and by UTC if it names none (A-121)`() throws {
        let folder = try TemporaryFolder()
        let named = AppText.make(replacing: ["appAppleId: 7": "appAppleId: 7\ntimeZone: America/Argentina/Buenos_Aires"]
        )
        try folder.write("one.yaml", named)
        #expect(try AppsDirectory.load(folder.path).get().first?.timeZone == "America/Argentina/Buenos_Aires")
        try folder.write("one.yaml", AppText.make())
        #expect(try #require(try AppsDirectory.load(folder.path).get().first).timeZone == nil)
    }

    @Test func `debts and limits on refunds are read (A-134 B-125)`() throws {
        let folder = try TemporaryFolder()
        let risk = """
            debts: repay, repayPercent: 50, risk: {review: {refunds: 3}, refuseSpends: {refunds: 8,
              amounts: [{currency: CNY, amount: 500}]}}
            """
        let file = try folder.write("one.yaml", AppText.make(replacing: ["orderExpiryHours: 48": risk]))
        let policies = try #require(try AppsDirectory.load(file).get().first).catalog.definition.policies
        #expect(policies.debtRepaymentShare == 50_000)
        #expect(policies.risk?.review == RiskLimit(refunds: 3, amounts: []) && policies.risk?.orders == nil)
        let yuan = MoneyAmount(currency: "CNY", milliunits: 500_000)
        #expect(policies.risk?.spends == RiskLimit(refunds: 8, amounts: [yuan]))
    }

    @Test func `without policies the careful values hold`() throws {
        let folder = try TemporaryFolder()
        let text = AppText.make().split(separator: "\n").filter { !$0.hasPrefix("policies") }.joined(separator: "\n")
        let file = try folder.write("one.yaml", text)
        let policies = try #require(try AppsDirectory.load(file).get().first).catalog.definition.policies
        #expect(policies.sandboxAudience == .listed)
        #expect(policies.reviewers == [])
        #expect(policies.orderExpiryHours == 24)
    }

    static let mistakes: [(String, String, String)] = [
        ("id: one\n", "id: One\n", "one.yaml:1:5: id must be 1 to 32 of a-z, 0-9 and -"),
        ("id: one\n", "id: two\n", "one.yaml:1:5: id must be the file's name, one"),
        ("surface: orders", "surface: shop", "one.yaml:2:10: surface must be one of: orders, points, game"),
        ("[one.example]", "[One.example]", "one.yaml:3:9: hosts must be a host name in lower case"),
        ("[one.example]", "[\"*\", a.b]", "one.yaml:3:9: hosts: \"*\" stands alone"),
        ("[one.example]", "[]", "one.yaml:3:8: hosts must have at least one item"),
        ("com.example.one", "com example", "one.yaml:4:13: bundleIds must be"),
        ("bundleIds:", "pathPrefix: /a/api\nbundleIds:", "one.yaml:4:13: pathPrefix must be like /name"),
        ("appAppleId: 7", "appAppleId: 7\ntimeZone: shanghai", "one.yaml:6:11: timeZone must be an IANA name"),
        ("appAppleId: 7", "appAppleId: 7\ntimeZone: 8", "timeZone must be an IANA name"),
        ("appAppleId: 7", "appAppleId: 0", "one.yaml:5:13: appAppleId must be between 1 and"),
        ("[Production, Sandbox]", "[Xcode]", "one.yaml:6:16: environments must be one of: Production, Sandbox"),
        ("secretFile: login.secret", "publicKeyFile: x", "one.yaml:7:48: HS256 needs a secretFile"),
        ("algorithm: HS256", "algorithm: none", "algorithm must be one of: HS256, ES256, RS256"),
        ("algorithm: ES256", "algorithm: HS256", "HS256 takes a secretFile, no publicKeyFile"),
        ("audience: one-services", "audience: one", "the audience one is taken by one.yaml:7"),
        ("audience: one,", "audience: 'a b',", "audience must be 1 to 255 printable"),
        ("jsonName: coin", "jsonName: Coin", "jsonName must be 1 to 32"),
        ("BALANCE_NOT_ENOUGH", "NOPE", "insufficientCode must be one of: BALANCE_NOT_ENOUGH, TIME_NOT_ENOUGH"),
        ("asset: COIN", "asset: GEM", "one.yaml:11:79: asset must be the id of one of the assets"),
        ("amount: 5", "amount: 0", "amount must be between 1 and 9223372036854775807"),
        ("amount: 5", "amount: 1.5", "amount must be a whole number"),
        ("amount: 5", "amount: 9223372036854775808", "amount must be a whole number"),
        ("code: VIP", "code: COIN_5", "one.yaml:12:12: code COIN_5 was already given in line 11"),
        ("appleProductId: vip", "appleProductId: coin_5", "appleProductId coin_5 was already given in line 11"),
        ("type: consumable", "type: Consumable", "type must be one of: consumable, non-consumable"),
        ("entitlement: {id: vip, durationDays: 30}, ", "", "a product needs grants, an entitlement, or both"),
        ("durationDays: 30", "durationDays: 0", "durationDays must be between 1 and 36525"),
        ("enabled: false", "rewardId: 0", "rewardId must be between 1 and 2147483647"),
        ("enabled: false", "enabled: no", "enabled must be true or false"),
        ("enabled: false", "enable: false", "one.yaml:12:102: unknown key enable"),
        ("sandbox: nobody", "sandbox: all", "sandbox must be one of: nobody, listed, everybody"),
        ("orderExpiryHours: 48", "orderExpiryHours: 0", "orderExpiryHours must be between 1 and 8760"),
        ("orderExpiryHours: 48", "debts: forgive", "debts must be one of: keep, repay"),
        ("orderExpiryHours: 48", "debts: repay", "repayPercent belongs to debts: repay"),
        ("orderExpiryHours: 48", "repayPercent: 5", "repayPercent belongs to debts: repay"),
        ("orderExpiryHours: 48", "consumption: maybe", "consumption must be one of: never, answer"),
        ("orderExpiryHours: 48", "refundPreference: decline", "belong to consumption: answer"),
        ("orderExpiryHours: 48", "consumption: never, sampleContent: true", "belong to consumption: answer"),
        (
            "orderExpiryHours: 48", "consumption: answer, refundPreference: all",
            "refundPreference must be one of: none, decline, grantFull, grantProrated"
        ),
        ("orderExpiryHours: 48", "debts: repay, repayPercent: 101", "repayPercent must be between 1 and 100"),
        ("orderExpiryHours: 48", "risk: {review: {}}", "a limit needs refunds, amounts, or both"),
        ("orderExpiryHours: 48", "risk: {review: {refunds: 0}}", "refunds must be between 1 and 1000"),
        ("orderExpiryHours: 48", "risk: {refuse: {refunds: 1}}", "unknown key refuse"),
        (
            "orderExpiryHours: 48", "risk: {review: {amounts: [{currency: eur, amount: 1}]}}",
            "currency must be three letters A-Z"
        ),
        ("policies:", "policy:", "one.yaml:13:1: unknown key policy"),
    ]

    @Test(arguments: mistakes) func `a mistake is named with its line`(_ old: String, _ new: String, _ problem: String)
        throws
    {
        let problems = try Self.problems(["one.yaml": AppText.make(replacing: [old: new])])
        #expect(problems.contains { $0.contains(problem) }, "\(problems)")
    }

    @Test func `all mistakes of all files are listed at once`() throws {
        let problems = try Self.problems([
            "one.yaml": AppText.make(replacing: ["surface: orders": "surface: x", "amount: 5": "amount: -5"]),
            "two.yaml": "id: two\nextra: 1\n", "three.yml": "id: three\n", "four.yaml": "a: [",
        ])
        for expected in [
            "one.yaml:2:10: surface", "one.yaml:11:", "two.yaml:1:1: hosts is missing",
            "two.yaml:2:1: unknown key extra",
            "three.yml:1:1: the file's name must end in .yaml", "four.yaml:2:1: ",
        ] {
            #expect(problems.contains { $0.hasPrefix(expected) }, "\(expected) in \(problems)")
        }
    }

    static let conflicts: [(String, String?)] = [
        (AppText.make(id: "two", hosts: "[two.example]", bundle: "b", audience: "two", serviceAudience: "s"), nil),
        (AppText.make(id: "two", prefix: "/two", bundle: "b", audience: "two", serviceAudience: "s"), nil),
        (
            AppText.make(id: "two", bundle: "b", audience: "two", serviceAudience: "s"),
            "two.yaml:3:9: the host and path prefix one.example is taken by one.yaml:3"
        ),
        // Every host that no other app names.
        (AppText.make(id: "two", hosts: "[\"*\"]", bundle: "b", audience: "two", serviceAudience: "s"), nil),
        (
            AppText.make(id: "two", hosts: "[t.example]", bundle: "b", audience: "two", serviceAudience: "one"),
            "two.yaml:8:38: the audience one is taken by one.yaml:7"
        ),
        (
            AppText.make(id: "two", hosts: "[t.example]", audience: "two", serviceAudience: "s"),
            "two.yaml:4:13: the bundle id com.example.one is taken by one.yaml:4"
        ),
    ]

    @Test(arguments: conflicts) func `two apps never share a place, an audience or a bundle id`(
        _ second: String, _ problem: String?
    ) throws {
        let problems = try Self.problems(["one.yaml": AppText.make(), "two.yaml": second])
        #expect(problems == (problem.map { [$0] } ?? []))
    }

    @Test func `a folder without apps and a path that does not exist are errors`() throws {
        #expect(try Self.problems([:]) == [":1:1: the folder has no app: expected <id>.yaml"])
        guard case .failure(let error) = AppsDirectory.load("/no/such/app.yaml") else {
            Issue.record("loaded")
            return
        }
        #expect(error.description == "/no/such/app.yaml:1:1: the file cannot be read: it does not exist")
        #expect(error.code == "apps.invalid_configuration")
    }
}
