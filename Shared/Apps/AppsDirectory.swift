import YAML

/// The apps of a deployment: a folder of `<id>.yaml` files, or one such file.
public enum AppsDirectory {
    /// The longest file; a thousand products need 200 KiB.
    private static let fileLimit = 1 << 20

    /// Reads and checks every app. Blocks for file access; for the start of a process, not for a request.
    ///
    /// - Returns: the apps sorted by id, at least one, or every mistake of every file.
    /// - Parameter productFiles: read instead of the products that an app's file has or names, by the app's id.
    public static func load(
        _ path: String, productFiles: [String: ProductFiles] = [:]
    ) -> Result<[AppConfiguration], AppsError> {
        let problems = YAMLProblems()
        var parsed: [AppFile.Parsed] = []
        for file in files(path, problems) {
            do throws(BoundedFile.Failure) {
                let content = try BoundedFile.read(file, limit: fileLimit)
                let app = AppFile.parse(
                    content.bytes, path: file, problems: problems, productFiles: productFiles)
                if let app { parsed.append(app) }
            } catch {
                problems.add("the file cannot be read: \(error.reason)", at: start(of: file))
            }
        }
        checkTogether(parsed, problems)
        guard problems.isEmpty else {
            return .failure(AppsError(kind: .invalidConfiguration, problems: problems.all))
        }
        return .success(parsed.compactMap(\.app).sorted { $0.id < $1.id })
    }

    private static func files(_ path: String, _ problems: YAMLProblems) -> [String] {
        guard BoundedFile.isFolder(path) else { return [path] }
        let folder = path.hasSuffix("/") ? path : path + "/"
        do throws(BoundedFile.Failure) {
            let names = try BoundedFile.names(in: folder)
            for name in names where name.hasSuffix(".yml") {
                problems.add("the file's name must end in .yaml", at: start(of: folder + name))
            }
            let files = names.filter { $0.hasSuffix(".yaml") }.map { folder + $0 }
            if files.isEmpty && problems.isEmpty {
                problems.add("the folder has no app: expected <id>.yaml", at: start(of: path))
            }
            return files
        } catch {
            problems.add("the folder cannot be read: \(error.reason)", at: start(of: path))
            return []
        }
    }

    /// What two apps must not share: a place (host and path prefix), an audience, a bundle id.
    private static func checkTogether(_ apps: [AppFile.Parsed], _ problems: YAMLProblems) {
        var places = Owners("host and path prefix", problems)
        var audiences = Owners("audience", problems)
        var bundleIDs = Owners("bundle id", problems)
        for parsed in apps {
            for host in parsed.hosts {
                places.take(host.text + parsed.pathPrefix, at: host.position)
            }
            for audience in parsed.audiences { audiences.take(audience.text, at: audience.position) }
            for bundleID in parsed.bundleIDs { bundleIDs.take(bundleID.text, at: bundleID.position) }
        }
    }

    /// What a change of the folder's files, or of the `others` they name, is recognised by: names, sizes, times and
    /// places of all of them. Nothing is read.
    public static func stamp(_ path: String, others: [String]) -> [String] {
        (files(path, YAMLProblems()) + others).sorted().map { $0 + " " + BoundedFile.stamp($0) }
    }

    private static func start(of file: String) -> YAMLPosition {
        YAMLPosition(file: file, line: 1, column: 1)
    }

    /// Who said something first.
    private struct Owners {
        private let what: String
        private let problems: YAMLProblems
        private var owners: [String: YAMLPosition] = [:]

        init(_ what: String, _ problems: YAMLProblems) {
            self.what = what
            self.problems = problems
        }

        mutating func take(_ value: String, at position: YAMLPosition) {
            if let owner = owners[value] {
                problems.add("the \(what) \(value) is taken by \(owner.file):\(owner.line)", at: position)
            } else {
                owners[value] = position
            }
        }
    }
}
