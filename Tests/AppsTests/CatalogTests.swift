import Apps
import Messages
import Testing

@Suite struct CatalogTests {
    private static func catalog(_ replacing: [String: String] = [:]) throws -> Catalog {
        let folder = try TemporaryFolder()
        try folder.write("one.yaml", AppText.make(replacing: replacing))
        return try #require(try AppsDirectory.load(folder.path).get().first).catalog
    }

    @Test func `the digest ignores spelling and order`() throws {
        let catalog = try Self.catalog()
        #expect(catalog.digest == (try Self.catalog(["amount: 5": "amount: 5 "]).digest))
        var shuffled = catalog
        shuffled.definition.products.reverse()
        #expect(shuffled.digest == catalog.digest)
        #expect(catalog.digest.count == 64)
    }

    static let changes: [(String, String)] = [
        ("amount: 5", "amount: 6"), ("code: VIP", "code: VIP2"), ("enabled: false", "enabled: true"),
        ("durationDays: 30", "durationDays: 31"), (", durationDays: 30", ""), ("sandbox: nobody", "sandbox: listed"),
        ("reviewers: [10001]", "reviewers: []"), ("testers: [t]", "testers: [u]"),
        ("requireAppAccountToken: true", "requireAppAccountToken: false"),
        ("orderExpiryHours: 48", "orderExpiryHours: 4"),
        ("orderExpiryHours: 48", "orderExpiryHours: 48, debts: repay, repayPercent: 50"),
        ("orderExpiryHours: 48", "orderExpiryHours: 48, risk: {review: {refunds: 3}}"),
        ("orderExpiryHours: 48", "orderExpiryHours: 48, risk: {refuseOrders: {refunds: 3}}"),
        ("orderExpiryHours: 48", "orderExpiryHours: 48, risk: {review: {amounts: [{currency: EUR, amount: 3}]}}"),
        ("orderExpiryHours: 48", "orderExpiryHours: 48, consumption: answer"),
        ("orderExpiryHours: 48", "orderExpiryHours: 48, consumption: answer, refundPreference: decline"),
        ("orderExpiryHours: 48", "orderExpiryHours: 48, consumption: answer, sampleContent: true"),
        ("jsonName: coin", "jsonName: coins"), ("BALANCE_NOT_ENOUGH", "TIME_NOT_ENOUGH"),
        ("type: non-consumable", "type: non-renewing"), ("enabled: false", "enabled: false, sort: 3"),
        ("enabled: false", "enabled: false, remark: r"),
        ("enabled: false", "enabled: false, rewardId: 3001"), ("appleProductId: vip", "appleProductId: vip2"),
    ]

    @Test(arguments: changes) func `every change of meaning changes the digest`(_ old: String, _ new: String) throws {
        #expect(try Self.catalog([old: new]).digest != Self.catalog().digest)
    }

    @Test func `an import carries the whole catalogue`() throws {
        let catalog = try Self.catalog()
        let message = catalog.importRequest(app: AppID("one"), actor: "op", expectedVersion: 3)
        #expect(message.app == AppID("one"))
        #expect(message.expectedVersion == 3)
        #expect(Catalog(message.definition).digest == catalog.digest)
    }
}
