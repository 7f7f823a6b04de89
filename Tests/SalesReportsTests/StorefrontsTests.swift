import SalesReports
import Testing

@Suite struct StorefrontsTests {
    @Test(arguments: [
        ("US", "USA"), ("DE", "DEU"), ("CN", "CHN"), ("TW", "TWN"), ("HK", "HKG"), ("XK", "XKS"), ("GB", "GBR"),
    ])
    func `countries of reports are named as transactions name storefronts`(two: String, three: String) {
        #expect(Storefronts.threeLetters(of: two) == three)
    }

    @Test(arguments: ["", "us", "QQ", "USA", "AF ALA"])
    func `what is no country has no storefront`(text: String) { #expect(Storefronts.threeLetters(of: text) == nil) }
}
