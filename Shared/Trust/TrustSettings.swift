public import AppStore
import Apps
public import Crypto
import FoundationEssentials
import Glibc
public import LegacyReceipts
import Messages

/// Whom a service believes: for which apps, under which roots.
public struct TrustSettings: Sendable {
    /// The apps it accepts signed data for.
    public let apps: [AcceptedApp]
    /// Apple's roots, and the local stand-in's where one is configured.
    public let roots: [Certificate]

    /// Composes them.
    public init(apps: [AcceptedApp], roots: [Certificate]) {
        self.apps = apps
        self.roots = roots
    }

    /// Everything wrong with the files, a sentence each.
    public struct Problems: Error, CustomStringConvertible {
        /// What is wrong, each.
        public let sentences: [String]
        /// All of them.
        public var description: String { sentences.joined(separator: "; ") }
    }

    /// The one verifier there is, for these apps and roots; for one thread.
    public func verifier() throws(CryptoError) -> SignedDataVerifier {
        try SignedDataVerifier(apps: apps, roots: roots)
    }

    /// The verifier of receipts, for the same apps and roots.
    public func receiptVerifier() throws(CryptoError) -> ReceiptVerifier {
        try ReceiptVerifier(apps: apps, roots: roots)
    }

    /// Reads the apps' folder and, if given, the file of additional roots.
    public static func load(appsFolder: String, rootsFile: String?) -> Result<TrustSettings, Problems> {
        var problems: [String] = []
        var apps: [AcceptedApp] = []
        switch AppsDirectory.load(appsFolder) {
        case .failure(let error): problems += error.problems.map { "\($0)" }
        case .success(let configurations): apps = configurations.map(AcceptedApp.init)
        }
        var roots: [Certificate] = []
        do { roots = try AppleRoots.certificates() } catch { problems.append("the embedded Apple roots: \(error)") }
        if let rootsFile {
            do throws(UnusableRoots) { roots += try read(rootsFile) } catch { problems.append(error.sentence) }
        }
        return problems.isEmpty
            ? .success(TrustSettings(apps: apps, roots: roots)) : .failure(Problems(sentences: problems))
    }

    private struct UnusableRoots: Error { let sentence: String }

    /// A file that others can write could make us believe anybody.
    private static func read(_ path: String) throws(UnusableRoots) -> [Certificate] {
        var status = stat()
        guard stat(path, &status) == 0 else {
            throw UnusableRoots(sentence: "the file of additional roots does not exist: \(path)")
        }
        guard status.st_mode & 0o077 == 0 else {
            throw UnusableRoots(sentence: "others can read or write the additional roots; run chmod 600 \(path)")
        }
        guard let data = FileManager.default.contents(atPath: path),
            let roots = try? Certificate.certificates(pem: String(decoding: data, as: UTF8.self)), !roots.isEmpty
        else { throw UnusableRoots(sentence: "no readable PEM certificate in \(path)") }
        return roots
    }
}

extension AcceptedApp {
    /// An app as its file describes it.
    init(_ app: AppConfiguration) {
        self.init(
            id: app.id.rawValue, bundleIDs: app.bundleIDs, appAppleID: app.appAppleID,
            environments: app.environments.sorted().map { $0 == .production ? .production : .sandbox })
    }
}
