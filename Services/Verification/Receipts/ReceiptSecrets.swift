import Apps
import Messages
import Observability
import Service

/// The apps' shared secrets for `verifyReceipt`. Files are read at each use, so that a changed one counts at once.
struct ReceiptSecrets: Sendable {
    private let files: [AppID: ReceiptSecret]

    /// Of the apps of a folder.
    init(appsFolder: String) throws {
        var files: [AppID: ReceiptSecret] = [:]
        for app in try AppsDirectory.load(appsFolder).get() { files[app.id] = app.receiptSecret }
        self.files = files
    }

    /// For tests.
    init(_ files: [AppID: ReceiptSecret] = [:]) { self.files = files }

    /// The secret of an app; nil if it names none.
    ///
    /// - Throws: why the file that it names cannot be used.
    func secret(of app: AppID) throws(AppsError) -> Secret? {
        guard let file = files[app] else { return nil }
        return try file.load().get()
    }

    /// What `check` says.
    static func check(appsFolder: String) -> [CheckResult] {
        guard case .success(let apps) = AppsDirectory.load(appsFolder) else { return [] }
        return apps.flatMap { app -> [CheckResult] in
            guard let secret = app.receiptSecret else { return [] }
            let subject = "shared secret of \(app.id)"
            switch secret.load() {
            case .success: return [CheckResult(subject)]
            case .failure(let error): return error.problems.map { CheckResult(subject, problem: "\($0)") }
            }
        }
    }
}
