import Apps
import FoundationEssentials
import Messages

/// What `purser catalog import` was asked for.
struct CatalogOptions {
    /// Where apps are if no file is named.
    private static let folder = "apps"

    /// Mistakes, a line each.
    struct Problems: Error { let lines: [String] }

    /// Only looks for mistakes.
    private(set) var isCheck = false
    /// Sends what would change.
    private(set) var isConfirmed = false
    /// Who imports.
    private(set) var actor: String
    private var app: String?
    private var csv: String?
    private var rewards: String?
    private var file: String?

    /// Reads the words after `catalog`; nil if they are not understood.
    init?(_ arguments: [String], actor: String) {
        guard arguments.first == "import" else { return nil }
        self.actor = actor
        var isDryRun = false
        var rest = arguments.dropFirst()
        while let word = rest.popFirst() {
            switch word {
            case "--check": isCheck = true
            case "--yes": isConfirmed = true
            case "--dry-run": isDryRun = true
            case "--actor", "--app", "--csv", "--rewards":
                guard let value = rest.popFirst(), !value.isEmpty, !value.hasPrefix("-") else { return nil }
                switch word {
                case "--actor": self.actor = value
                case "--app": app = value
                case "--csv": csv = value
                default: rewards = value
                }
            default:
                guard !word.hasPrefix("-"), !word.isEmpty, file == nil else { return nil }
                file = word
            }
        }
        guard [isCheck, isConfirmed, isDryRun].filter({ $0 }).count <= 1, (csv == nil) == (rewards == nil),
            app == nil || file == nil, app != nil || file != nil || csv != nil
        else { return nil }
    }

    /// Reads the apps' files and picks the app. All files of the folder are checked: two apps may contradict each other.
    func load() -> Result<AppConfiguration, Problems> {
        let url = file.map { URL(filePath: $0) }
        let folder = url?.deletingLastPathComponent().path ?? Self.folder
        var name = app ?? url?.deletingPathExtension().lastPathComponent
        if name == nil {
            switch Self.onlyAppWithFiles(in: folder) {
            case .failure(let problems): return .failure(problems)
            case .success(let found): name = found
            }
        }
        var files: [String: ProductFiles] = [:]
        if let name, let csv, let rewards { files[name] = ProductFiles(products: csv, rewards: rewards) }
        switch AppsDirectory.load(folder, productFiles: files) {
        case .failure(let error): return .failure(Problems(lines: error.problems.map { "\($0)" }))
        case .success(let apps):
            if let app = apps.first(where: { $0.id.rawValue == name }) { return .success(app) }
            let wanted = file ?? "\(folder)/\(name ?? "").yaml"
            return .failure(Problems(lines: ["\(wanted) is no app's file; write the path of an apps/<id>.yaml"]))
        }
    }

    /// The app whose products are in CSV files, if there is one such app only.
    private static func onlyAppWithFiles(in folder: String) -> Result<String, Problems> {
        switch AppsDirectory.load(folder) {
        case .failure(let error):
            return .failure(Problems(lines: error.problems.map { "\($0)" } + ["say which app it is: --app ID"]))
        case .success(let apps):
            let found = apps.filter { $0.productFiles != nil }
            guard let app = found.first, found.count == 1 else {
                return .failure(
                    Problems(lines: ["\(found.count) apps have their products in CSV files: say which one, --app ID"]))
            }
            return .success(app.id.rawValue)
        }
    }
}
