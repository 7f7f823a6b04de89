import Messages
import YAML

/// Reads assets, products and policies of an app's file.
struct CatalogSection {
    let root: YAMLMapping
    let problems: YAMLProblems
    /// The folder of the app's file, with a slash at its end.
    let folder: String
    /// Files to read the products of, whatever the app's file says.
    var productFiles: ProductFiles?

    /// The file's words and Apple's: the `type` of JWSTransactionDecodedPayload.
    private static let types = [
        (name: "consumable", value: "Consumable"), (name: "non-consumable", value: "Non-Consumable"),
        (name: "non-renewing", value: "Non-Renewing Subscription"),
        (name: "auto-renewable", value: "Auto-Renewable Subscription"),
    ]
    /// The codes a spend can be refused with when there is too little.
    private static let insufficientCodes: [AnswerCode] = [.balanceNotEnough, .timeNotEnough]
    /// A hundred years; longer is a mistake in the file.
    static let longestDuration: Int64 = 36_525
    /// Document C's messages carry the number in 32 bits.
    static let rewardIDs: ClosedRange<Int64> = 1...Int64(Int32.max)
    /// Places in a list; more would be a mistake in the file.
    private static let sortRange: ClosedRange<Int64> = 0...1_000_000

    /// The catalogue, incomplete if problems were added, and the files besides the app's that it is in.
    func read() -> (catalog: Catalog, files: ProductFiles?) {
        let assets = assets()
        let named = namedFiles()
        let files = productFiles ?? named
        let products =
            files.map { files in
                files.read(problems).map { ProductSheet.read($0, of: files, assets: assets, problems) } ?? []
            } ?? products()
        let policies = PoliciesSection(root: root, problems: problems).read()
        return (Catalog(CatalogDefinition(assets: assets, products: products, policies: policies)), files)
    }

    /// `products: {csv: FILE, rewards: FILE}` instead of a list.
    private func namedFiles() -> ProductFiles? {
        guard case .mapping? = root.optionalNode("products")?.content, let section = root.mapping("products") else {
            return nil
        }
        let paths = ["csv", "rewards"].map { section.text($0, NameRule.path.text, NameRule.path.isValid)?.text }
        section.finish()
        guard let products = paths[0], let rewards = paths[1] else { return nil }
        return ProductFiles(products: resolved(products), rewards: resolved(rewards))
    }

    private func resolved(_ path: String) -> String { path.hasPrefix("/") ? path : folder + path }

    private func assets() -> [CatalogAsset] {
        var ids = Unique("asset id", problems)
        var names = Unique("jsonName", problems)
        return root.optionalItems("assets").compactMap { node in
            guard let section = YAMLMapping(node, problems) else { return nil }
            let id = section.text("id", NameRule.assetID.text, NameRule.assetID.isValid)
            let name = section.text("jsonName", NameRule.jsonName.text, NameRule.jsonName.isValid)
            let code = section.choice("insufficientCode", Self.insufficientCodes.map { ($0.rawValue, $0) })
            section.finish()
            ids.check(id)
            names.check(name)
            guard let id, let name, let code else { return nil }
            return CatalogAsset(asset: AssetID(id.text), jsonName: name.text, insufficientCode: code)
        }
    }

    /// Ids of assets, also of those with a mistake elsewhere, so that one mistake is reported once.
    private var declaredAssets: Set<String> {
        Set(
            root.optionalItems("assets").compactMap { node in
                guard case .mapping(let entries) = node.content,
                    case .scalar(let id, _)? = entries.first(where: { $0.key == "id" })?.value.content
                else { return nil }
                return id
            })
    }

    private func products() -> [CatalogProduct] {
        // What was no list of two files' names has been told already.
        if case .mapping? = root.optionalNode("products")?.content { return [] }
        let assets = declaredAssets
        var codes = Unique("code", problems)
        var ids = Unique("appleProductId", problems)
        return root.items("products").compactMap { node in
            guard let section = YAMLMapping(node, problems) else { return nil }
            let code = section.text("code", NameRule.productCode.text, NameRule.productCode.isValid)
            let id = section.text("appleProductId", NameRule.productID.text, NameRule.productID.isValid)
            let type = section.choice("type", Self.types)
            let amounts = grants(section, assets: assets)
            let entitlement = section.optionalMapping("entitlement")
            let given = entitlement.flatMap(self.entitlement)
            let starter = section.optionalMapping("starter").flatMap { self.starter($0, assets: assets) }
            if starter != nil, let type, type != "Consumable" {
                problems.add("starter is for consumables", at: section.position)
            }
            let rewardID = section.optionalInt64("rewardId", in: Self.rewardIDs)
            let isEnabled = section.bool("enabled", absent: true)
            let sort = section.optionalInt64("sort", in: Self.sortRange)
            let remark = section.optionalText("remark", NameRule.remark.text, NameRule.remark.isValid)
            if section.optionalNode("grants") == nil && section.optionalNode("entitlement") == nil {
                problems.add("a product needs grants, an entitlement, or both", at: section.position)
            }
            section.finish()
            codes.check(code)
            ids.check(id)
            guard let code, let id, let type else { return nil }
            var product = CatalogProduct(
                code: code.text, productID: ProductID(id.text), productType: type, amounts: amounts,
                entitlement: given?.id, entitlementDays: given?.days, isEnabled: isEnabled, sort: sort ?? 0,
                remark: remark?.text)
            product.starter = starter
            product.rewardID = rewardID
            return product
        }
    }

    private func grants(_ section: YAMLMapping, assets: Set<String>) -> [AssetAmount] {
        guard section.optionalNode("grants") != nil else { return [] }
        return amounts(section, "grants", assets: assets)
    }

    /// `{offer: NAME}`; whoever is not eligible and paid gets the `substitute`, or waits for support.
    private func starter(_ section: YAMLMapping, assets: Set<String>) -> StarterOffer? {
        let offer = section.text("offer", NameRule.entitlementID.text, NameRule.entitlementID.isValid)
        let substitute =
            section.optionalNode("substitute") == nil ? nil : amounts(section, "substitute", assets: assets)
        section.finish()
        return offer.map { StarterOffer(offer: $0.text, substitute: substitute) }
    }

    private func amounts(_ section: YAMLMapping, _ name: String, assets: Set<String>) -> [AssetAmount] {
        var granted = Unique("\(name): asset", problems)
        return section.items(name).compactMap { node in
            guard let grant = YAMLMapping(node, problems) else { return nil }
            let asset = grant.text("asset", "the id of one of the assets", assets.contains)
            let amount = grant.int64("amount", in: 1...Int64.max)
            grant.finish()
            granted.check(asset)
            guard let asset, let amount else { return nil }
            return AssetAmount(asset: AssetID(asset.text), amount: amount)
        }
    }

    private func entitlement(_ section: YAMLMapping) -> (id: String, days: Int64?)? {
        let id = section.text("id", NameRule.entitlementID.text, NameRule.entitlementID.isValid)
        let days = section.optionalInt64("durationDays", in: 1...Self.longestDuration)
        section.finish()
        return id.map { ($0.text, days) }
    }

    /// Finds texts that are given twice.
    private struct Unique {
        private let what: String
        private let problems: YAMLProblems
        private var seen: [String: Int] = [:]

        init(_ what: String, _ problems: YAMLProblems) {
            self.what = what
            self.problems = problems
        }

        mutating func check(_ text: YAMLMapping.Text?) {
            guard let text else { return }
            if let line = seen[text.text] {
                problems.add("\(what) \(text.text) was already given in line \(line)", at: text.position)
            } else {
                seen[text.text] = text.position.line
            }
        }
    }
}
