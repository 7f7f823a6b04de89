import Apps
import CSV
import Messages
import YAML

/// A game's two CSV files, products and rewards, in one input with a line of equals signs between.
struct SheetTarget: FuzzTarget {
    private static let line = Array("\n====\n".utf8)

    let seeds: [[UInt8]] = [
        #"""
        productId,name,desc,type,rewardId,price
        com.ninjafall.gem_pack_1,小宝石包,立刻获得60钻石,consumable,2001,6
        "com.ninjafall.gem_pack_2","中,宝石包","立刻""获得",consumable,2002,30
        ====
        2001,diamond,0,0,60,60,,小宝石包（60钻）
        2002,diamond,0,0,360,360,,"中
        宝石包"
        """#,
        """
        productId,name,productType,rewardId,price,entitlement,durationDays
        com.ninjafall.monthly_card,月卡,consumable,3001,30,monthly-card,30
        com.ninjafall.permanent_card,永久卡,non_consumable,3002,198,permanent-card,
        ====
        id,asset,a,b,min,max,c,remark
        3001,DIAMOND,0,0,300,300,,
        """,
    ].map { Array($0.utf8) }
    let words = [
        ",", "\"", "\"\"", "\n", "\r\n", "\r", "\n====\n", "\u{FEFF}", "\u{0}", "\u{7F}", "productId", "rewardId",
        "durationDays", "entitlement", "non_consumable", "2147483647", "9223372036854775807", "-1", "0", "1e3", "",
        "，", "diamond", "2001", ",\"\n", ",,,,,,,", "\"a\"b",
    ]
    let longest = 64 << 10
    private let assets = [
        CatalogAsset(asset: AssetID("DIAMOND"), jsonName: "diamonds", insufficientCode: .balanceNotEnough)
    ]

    mutating func run(_ input: [UInt8]) throws(Violation) -> Bool {
        let table = CSVReader.read(input)
        for problem in table.problems {
            try Violation.unless(problem.line >= 1 && problem.column >= 1, "a problem without a place: \(problem)")
        }
        let lines = table.records.map(\.line)
        try Violation.unless(Set(lines).count == lines.count, "a line is read twice")
        let parts = input.split(separator: Self.line, maxSplits: 1, omittingEmptySubsequences: false).map(Array.init)
        let problems = YAMLProblems()
        let products = ProductSheet.read(
            (parts[0], parts.count > 1 ? parts[1] : []), of: ProductFiles(products: "p.csv", rewards: "r.csv"),
            assets: assets, problems)
        guard problems.isEmpty else { return false }
        try Violation.unless(!products.isEmpty, "neither a product nor a problem")
        for product in products {
            let gives = !product.amounts.isEmpty || product.entitlement != nil
            try Violation.unless(gives && product.rewardID != nil, "a product that gives nothing: \(product)")
            try Violation.unless(product.amounts.allSatisfy { $0.amount > 0 }, "an amount below 1: \(product)")
        }
        return true
    }
}
