import CSV
import Messages
import YAML

/// `reward.csv` of document C: a reward a line, without a heading: `id,asset,_,_,min,max,_,remark`. What the columns
/// without a name mean is the game's business.
///
/// Rewards of other things than purchases may be in it: of those only the form is checked.
struct RewardSheet {
    /// A reward and where it stands.
    struct Reward {
        let row: SheetRow
        let line: Int
    }

    /// The columns' places.
    private enum Column {
        static let id = 0, asset = 1, least = 4, most = 5, remark = 7, count = 8
    }

    private let assets: [CatalogAsset]
    private var rewards: [Int64: Reward] = [:]

    /// Reads the file's lines.
    init(_ bytes: [UInt8], file: String, assets: [CatalogAsset], problems: YAMLProblems) {
        self.assets = assets
        let table = CSVReader.read(bytes)
        problems.add(table.problems, in: file)
        for (place, record) in table.records.enumerated() {
            let row = SheetRow(record: record, file: file, problems: problems)
            // Some tables have a heading.
            if place == 0, row.text(Column.id) == "id" { continue }
            guard record.fields.count == Column.count else {
                problems.add(
                    "a reward has \(Column.count) values (id,asset,_,_,min,max,_,remark), here are \(record.fields.count)",
                    at: YAMLPosition(file: file, line: record.line, column: 1))
                continue
            }
            guard let id = row.int64(Column.id, "id", in: CatalogSection.rewardIDs) else { continue }
            if let other = rewards[id] {
                row.problem("reward \(id) was already given in line \(other.line)", at: Column.id)
            } else {
                rewards[id] = Reward(row: row, line: record.line)
            }
        }
    }

    /// The asset as the catalogue calls it: by its id in whatever case, or by its name in JSON.
    private func asset(_ text: String) -> CatalogAsset? {
        assets.first { $0.asset.rawValue.lowercased() == text.lowercased() || $0.jsonName == text }
    }

    /// The reward with this number.
    func reward(_ id: Int64) -> Reward? { rewards[id] }

    /// What a reward of a purchase puts into a wallet; nil with a problem in its line.
    func amount(of reward: Reward) -> AssetAmount? {
        let row = reward.row
        let asset = asset(row.text(Column.asset))
        if asset == nil {
            let known = assets.map(\.jsonName).joined(separator: ", ")
            row.problem("asset must be one of the app's assets: \(known)", at: Column.asset)
        }
        let least = row.int64(Column.least, "min", in: 1...Int64.max)
        let most = row.int64(Column.most, "max", in: 1...Int64.max)
        if let least, let most, least != most {
            row.problem("max must equal min, \(least): what is paid for is no matter of luck", at: Column.most)
            return nil
        }
        guard let asset, let least, most != nil else { return nil }
        return AssetAmount(asset: asset.asset, amount: least)
    }
}

extension YAMLProblems {
    /// Adds what is wrong with a CSV file.
    func add(_ problems: [CSVProblem], in file: String) {
        for problem in problems {
            add(problem.message, at: YAMLPosition(file: file, line: problem.line, column: problem.column))
        }
    }
}
