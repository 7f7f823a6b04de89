import Messages
import Testing
import YAML

@testable import Apps

/// Products and rewards in CSV files, as document C has them.
@Suite struct ProductSheetTests {
    /// Document C, 2, word for word.
    static let products = """
        productId,name,desc,type,rewardId,price
        com.ninjafall.gem_pack_1,小宝石包,立刻获得60钻石,consumable,2001,6
        com.ninjafall.gem_pack_2,中宝石包,立刻获得360钻石,consumable,2002,30
        com.ninjafall.gem_pack_3,大宝石包,立刻获得1200钻石,consumable,2003,98
        com.ninjafall.gem_pack_4,超大宝石包,立刻获得4000钻石,consumable,2004,328
        """
    static let rewards = """
        2001,diamond,0,0,60,60,,小宝石包（60钻）
        2002,diamond,0,0,360,360,,中宝石包（360钻）
        2003,diamond,0,0,1200,1200,,大宝石包（1200钻）
        2004,diamond,0,0,4000,4000,,超大宝石包（4000钻）
        """
    /// The other heading of the document, with a card's entitlement and time.
    static let cards = """
        productId,name,productType,rewardId,price,entitlement,durationDays
        com.ninjafall.monthly_card,月卡,consumable,3001,30,monthly_card,30
        com.ninjafall.permanent_card,永久卡,non_consumable,3002,198,permanent_card,
        """

    private static func load(_ products: String, _ rewards: String = rewards) throws -> Result<
        [AppConfiguration], AppsError
    > {
        let folder = try TemporaryFolder()
        let app = AppText.make(replacing: [
            "{id: COIN, jsonName: coin,": "{id: DIAMOND, jsonName: diamonds,",
            "products:": "products: {csv: products.csv, rewards: reward.csv}",
            "  - {code: COIN_5, appleProductId: coin_5, type: consumable, grants: [{asset: COIN, amount: 5}]}\n": "",
            "  - {code: VIP, appleProductId: vip, type: non-consumable, entitlement: {id: vip, durationDays: 30}, enabled: false}\n":
                "",
        ])
        try folder.write("one.yaml", app)
        try folder.write("products.csv", products)
        try folder.write("reward.csv", rewards)
        return AppsDirectory.load(folder.path)
    }

    private static func products(_ products: String, _ rewards: String = rewards) throws -> [CatalogProduct] {
        try #require(try load(products, rewards).get().first).catalog.definition.products
    }

    private static func line(_ product: CatalogProduct) -> String {
        let amounts = product.amounts.map { "\($0.amount) \($0.asset)" }.joined(separator: " ")
        let card = product.entitlement.map { " \($0) \(product.entitlementDays.map(String.init) ?? "for ever")" } ?? ""
        return
            "\(product.code) \(product.productID) \(product.productType) \(product.rewardID ?? 0) [\(amounts)]\(card)"
    }

    static let spellings: [@Sendable (String) -> String] = [
        { $0 }, { "\u{FEFF}" + $0 }, { $0.replacing("\n", with: "\r\n") + "\r\n\r\n" },
        {
            $0.split(separator: "\n").map {
                $0.split(separator: ",", omittingEmptySubsequences: false).map { "\"\($0)\"" }.joined(separator: ",")
            }.joined(separator: "\n")
        },
    ]

    @Test(arguments: spellings.indices)
    func `the document's own files are read, whoever saved them (C-003 C-004 C-005 C-006)`(spelling: Int) throws {
        let spell = Self.spellings[spelling]
        let products = try Self.products(spell(Self.products), spell(Self.rewards))
        #expect(
            products.map(Self.line) == [
                "gem_pack_1 com.ninjafall.gem_pack_1 Consumable 2001 [60 DIAMOND]",
                "gem_pack_2 com.ninjafall.gem_pack_2 Consumable 2002 [360 DIAMOND]",
                "gem_pack_3 com.ninjafall.gem_pack_3 Consumable 2003 [1200 DIAMOND]",
                "gem_pack_4 com.ninjafall.gem_pack_4 Consumable 2004 [4000 DIAMOND]",
            ])
        #expect(products.map(\.sort) == [1, 2, 3, 4] && products.map(\.remark).first == "小宝石包")
    }

    @Test func `the document's other heading is read, and cards by two columns more (C-003 C-011 C-012 C-013)`() throws
    {
        let products = try Self.products(Self.cards)
        #expect(
            products.map(Self.line) == [
                "monthly_card com.ninjafall.monthly_card Consumable 3001 [] monthly_card 30",
                "permanent_card com.ninjafall.permanent_card Non-Consumable 3002 [] permanent_card for ever",
            ])
        let word = Self.cards.replacing(",entitlement,durationDays", with: "").replacing(",monthly_card,30", with: "")
            .replacing(",permanent_card,", with: "")
        let given = try Self.products(
            word, Self.rewards + "\n3001,DIAMOND,0,0,300,300,,x\n3002,diamonds,0,0,900,900,,x")
        #expect(given.map { $0.amounts.map(\.amount) } == [[300], [900]], "word for word they are rewards only")
    }

    /// A change of a file and the problem it must be told by.
    static let mistakes: [(isRewards: Bool, from: String, to: String, problem: String)] = [
        (false, ",desc", ",description", "products.csv:1:16: unknown column \"description\""),
        (false, "productId,", "", "products.csv:1:1: column productId is missing"),
        (false, ",type", ",productType,type", "one of the columns type and productType is needed"),
        (false, ",type", "", "one of the columns type and productType is needed"),
        (false, ",price", ",price,price", "products.csv:1:41: column price is there twice"),
        (false, ",2001,6", ",2001", "products.csv:2:1: a product has 6 values as the heading has, here are 5"),
        (false, ",2001,6", ",2001,6,", "products.csv:2:1: a product has 6 values as the heading has, here are 7"),
        (false, "gem_pack_1,", "gem pack,", "products.csv:2:1: productId must be 1 to 128"),
        (
            false, "gem_pack_2,", "gem_pack_1,",
            "products.csv:3:1: productId com.ninjafall.gem_pack_1 was already given in line 2"
        ),
        (
            false, "com.ninjafall.gem_pack_2", "com.other.gem_pack_1",
            "the last part of productId, gem_pack_1, is also that of line 2"
        ),
        (false, "com.ninjafall.gem_pack_2", "...", "products.csv:3:1: the last part of productId must be 1 to 64"),
        (
            false, "consumable,2003", "Consumable,2003",
            "products.csv:4:42: the type must be one of: auto_renewable, consumable"
        ),
        (false, ",2004,", ",2005,", "reward 2005 is not in the rewards' file"),
        (false, ",2004,", ",,", "rewardId must be a whole number from 1 to 2147483647"),
        (false, ",2004,", ",02004,", "rewardId must be a whole number"),
        (false, ",328", ",¥328", "price must be a number such as 6 or 0.99"),
        (false, ",328", ",", "price must be a number"),
        (false, "小宝石包,立", "小\"宝石包,立", "products.csv:2:27: a quote inside a value"),
        (true, "60,60", "60,61", "reward.csv:1:21: max must equal min, 60"),
        (true, "60,60", "0,0", "reward.csv:1:18: min must be a whole number from 1 to"),
        (true, "60,60", "1e2,1e2", "min must be a whole number"),
        (true, "2001,diamond", "2001,gold", "reward.csv:1:6: asset must be one of the app's assets: diamonds"),
        (true, "0,0,60,60,,", "0,0,60,60,", "reward.csv:1:1: a reward has 8 values"),
        (true, "2002,", "2001,", "reward.csv:2:1: reward 2001 was already given in line 1"),
        (true, "2002,", "x,", "reward.csv:2:1: id must be a whole number"),
    ]

    @Test(arguments: mistakes)
    func `a mistake is told with file and line, and nothing is imported (C-006)`(
        isRewards: Bool, from: String, to: String, problem: String
    ) throws {
        func changed(_ text: String, _ isThis: Bool) -> String {
            isThis ? text.replacing(from, with: to, maxReplacements: 1) : text
        }
        let result = try Self.load(changed(Self.products, !isRewards), changed(Self.rewards, isRewards))
        #expect(Self.problems(result).contains(problem))
    }

    @Test func `all mistakes of both files are told at once`() throws {
        let products = Self.products.replacing(",6\n", with: ",six\n").replacing("consumable,2003", with: "toy,2003")
        let rewards = Self.rewards.replacing("4000,4000", with: "4000,4001").replacing(
            "2002,diamond", with: "2002,gold")
        guard case .failure(let error) = try Self.load(products, rewards) else {
            Issue.record("it was read")
            return
        }
        #expect(error.problems.map { $0.position.line } == [2, 4, 2, 4], "\(error)")
    }

    @Test func `rewards of other things than purchases may vary, and a heading may stand over them`() throws {
        let rewards = "id,asset,a,b,min,max,c,remark\n" + Self.rewards + "\n9001,exp,1,2,5,50,3,a quest\n"
        #expect(try Self.products(Self.products, rewards).count == 4)
    }

    private static func problems(_ result: Result<[AppConfiguration], AppsError>) -> String {
        if case .failure(let error) = result { "\(error)" } else { "none" }
    }

    @Test func `a file that is missing or names no product is told, and so is half of the two`() throws {
        #expect(Self.problems(try Self.load("")).contains("the file has no heading and no products"))
        let heading = try Self.load("productId,name,type,rewardId,price\n")
        #expect(Self.problems(heading).contains("the file has no products"))
        let folder = try TemporaryFolder()
        for (products, problem) in [
            ("{csv: nowhere.csv, rewards: r.csv}", "nowhere.csv:1:1: the file cannot be read: it does not exist"),
            ("{csv: nowhere.csv}", "rewards is missing"), ("{}", "csv is missing"),
        ] {
            try folder.write("one.yaml", AppText.make(replacing: ["products:": "products: \(products)\nx:"]))
            #expect(Self.problems(AppsDirectory.load(folder.path)).contains(problem))
        }
    }

    @Test func `other files may be read instead, and all of them are watched`() throws {
        let folder = try TemporaryFolder()
        try folder.write(
            "one.yaml", AppText.make(replacing: ["{id: COIN,": "{id: DIAMOND,", "asset: COIN": "asset: DIAMOND"]))
        try folder.write("p.csv", Self.products)
        try folder.write("r.csv", Self.rewards)
        let files = ProductFiles(products: folder.path + "p.csv", rewards: folder.path + "r.csv")
        let app = try #require(try AppsDirectory.load(folder.path, productFiles: ["one": files]).get().first)
        #expect(app.catalog.definition.products.count == 4 && app.productFiles == files)
        #expect(Set(app.files).isSuperset(of: [files.products, files.rewards]))
        let plain = try #require(try AppsDirectory.load(folder.path).get().first)
        #expect(plain.catalog.definition.products.count == 2 && plain.productFiles == nil)
    }
}
