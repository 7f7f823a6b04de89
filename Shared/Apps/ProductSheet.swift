import CSV
package import Messages
package import YAML

/// `IAPProduct.csv` of document C: a product a line, the columns by the names in the heading and in any order.
///
/// Both headings of the document are read (`…,desc,type,…` and `…,productType,…`), and two columns more, without which
/// a card could not be told: `entitlement` and `durationDays`.
package struct ProductSheet {
    /// What a column may be called; `type` and `productType` are the same.
    private enum Column: String, CaseIterable {
        case productId, name, desc, type, productType, rewardId, price, entitlement, durationDays
    }

    /// The document's words and Apple's.
    private static let types = [
        "consumable": "Consumable", "non_consumable": "Non-Consumable", "non_renewing": "Non-Renewing Subscription",
        "auto_renewable": "Auto-Renewable Subscription",
    ]

    private let rewards: RewardSheet
    private let file: String
    private let problems: YAMLProblems
    private var columns: [Column: Int] = [:]
    private var lines: [String: Int] = [:]
    private var codes: [String: Int] = [:]

    /// Reads both files' bytes. Pure.
    ///
    /// - Returns: the products in the file's order; incomplete if problems were added.
    package static func read(
        _ bytes: (products: [UInt8], rewards: [UInt8]), of files: ProductFiles, assets: [CatalogAsset],
        _ problems: YAMLProblems
    ) -> [CatalogProduct] {
        let rewards = RewardSheet(bytes.rewards, file: files.rewards, assets: assets, problems: problems)
        var sheet = ProductSheet(rewards: rewards, file: files.products, problems: problems)
        return sheet.products(bytes.products)
    }

    private init(rewards: RewardSheet, file: String, problems: YAMLProblems) {
        (self.rewards, self.file, self.problems) = (rewards, file, problems)
    }

    private mutating func products(_ bytes: [UInt8]) -> [CatalogProduct] {
        let table = CSVReader.read(bytes)
        problems.add(table.problems, in: file)
        guard let heading = table.records.first else {
            problems.add("the file has no heading and no products", at: YAMLPosition(file: file, line: 1, column: 1))
            return []
        }
        guard readHeading(heading) else { return [] }
        if table.records.count == 1 {
            problems.add("the file has no products", at: YAMLPosition(file: file, line: heading.line, column: 1))
        }
        return table.records.dropFirst().enumerated().compactMap { place, record in
            guard record.fields.count == heading.fields.count else {
                problems.add(
                    "a product has \(heading.fields.count) values as the heading has, here are \(record.fields.count)",
                    at: YAMLPosition(file: file, line: record.line, column: 1))
                return nil
            }
            return product(SheetRow(record: record, file: file, problems: problems), place: Int64(place) + 1)
        }
    }

    /// Finds the columns; false with problems if the lines cannot be read by them.
    private mutating func readHeading(_ record: CSVRecord) -> Bool {
        let row = SheetRow(record: record, file: file, problems: problems)
        var isFine = true
        func wrong(_ message: String, at column: Int) {
            row.problem(message, at: column)
            isFine = false
        }
        for place in record.fields.indices {
            guard let column = Column(rawValue: row.text(place)) else {
                let known = Column.allCases.map(\.rawValue).joined(separator: ", ")
                wrong("unknown column \"\(row.text(place).prefix(64))\"; known are \(known)", at: place)
                continue
            }
            if columns[column] != nil { wrong("column \(column.rawValue) is there twice", at: place) }
            columns[column] = place
        }
        for column in [Column.productId, .name, .rewardId, .price] where columns[column] == nil {
            wrong("column \(column.rawValue) is missing", at: 0)
        }
        if (columns[.type] == nil) == (columns[.productType] == nil) {
            wrong("one of the columns type and productType is needed", at: 0)
        }
        return isFine
    }

    private mutating func product(_ row: SheetRow, place: Int64) -> CatalogProduct? {
        let id = text(row, .productId, .productID)
        let name = text(row, .name, .remark)
        if let column = columns[.desc] { _ = row.text(column, Column.desc.rawValue, .remark) }
        let type = type(row)
        let reward = columns[.rewardId].flatMap { row.int64($0, "rewardId", in: CatalogSection.rewardIDs) }
        checkPrice(row)
        let card = card(row)
        let amounts = reward.map { self.amounts(of: $0, isCard: card != nil, row) } ?? []
        guard let id else { return nil }
        let code = Self.code(of: id)
        checkOnce(id, code, row)
        guard let type, let name, let reward else { return nil }
        var product = CatalogProduct(
            code: code, productID: ProductID(id), productType: type, amounts: amounts, entitlement: card?.id,
            entitlementDays: card?.days, isEnabled: true, sort: place, remark: name.isEmpty ? nil : name)
        product.rewardID = reward
        return product
    }

    private func text(_ row: SheetRow, _ column: Column, _ rule: NameRule) -> String? {
        columns[column].flatMap { row.text($0, column.rawValue, rule) }
    }

    private func type(_ row: SheetRow) -> String? {
        guard let column = columns[.type] ?? columns[.productType] else { return nil }
        if let type = Self.types[row.text(column)] { return type }
        row.problem("the type must be one of: \(Self.types.keys.sorted().joined(separator: ", "))", at: column)
        return nil
    }

    /// What Apple charges is Apple's business; but what is no price is a slip of columns.
    private func checkPrice(_ row: SheetRow) {
        guard let column = columns[.price] else { return }
        let parts = row.text(column).split(separator: ".", omittingEmptySubsequences: false)
        let isNumber = parts.allSatisfy { part in
            (1...9).contains(part.utf8.count) && part.utf8.allSatisfy { (0x30...0x39).contains($0) }
        }
        if !isNumber || parts.count > 2 { row.problem("price must be a number such as 6 or 0.99", at: column) }
    }

    /// The entitlement a card gives, and for how long; nil if it is none.
    private func card(_ row: SheetRow) -> (id: String, days: Int64?)? {
        let days = columns[.durationDays].flatMap { column in
            row.text(column).isEmpty
                ? nil : row.int64(column, "durationDays", in: 1...CatalogSection.longestDuration)
        }
        guard let column = columns[.entitlement], !row.text(column).isEmpty else {
            if let column = columns[.durationDays], !row.text(column).isEmpty {
                row.problem("durationDays needs an entitlement in the same line", at: column)
            }
            return nil
        }
        return row.text(column, "entitlement", .entitlementID).map { ($0, days) }
    }

    /// What the reward gives. Of a card it may give nothing to the wallet: then there is no such reward.
    private func amounts(of id: Int64, isCard: Bool, _ row: SheetRow) -> [AssetAmount] {
        guard let reward = rewards.reward(id) else {
            if !isCard, let column = columns[.rewardId] {
                row.problem(
                    "reward \(id) is not in the rewards' file; a card without one needs an entitlement", at: column)
            }
            return []
        }
        return rewards.amount(of: reward).map { [$0] } ?? []
    }

    private mutating func checkOnce(_ id: String, _ code: String, _ row: SheetRow) {
        guard let column = columns[.productId] else { return }
        if let line = lines[id] {
            row.problem("productId \(id) was already given in line \(line)", at: column)
        } else if !NameRule.productCode.isValid(code) {
            row.problem("the last part of productId must be \(NameRule.productCode.text)", at: column)
        } else if let line = codes[code] {
            row.problem("the last part of productId, \(code), is also that of line \(line)", at: column)
        }
        (lines[id], codes[code]) = (lines[id] ?? row.record.line, codes[code] ?? row.record.line)
    }

    /// The app's own code of a product, which the files do not have: the last part of Apple's id, `gem_pack_1`.
    private static func code(of id: String) -> String {
        id.split(separator: ".").last.map(String.init) ?? id
    }
}
