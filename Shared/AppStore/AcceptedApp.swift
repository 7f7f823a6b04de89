/// An environment whose signed data can be accepted.
///
/// Xcode and LocalTesting are no members: what they sign proves nothing, so there is no way to configure them.
public enum AppStoreEnvironment: String, Sendable, CaseIterable {
    /// Real money.
    case production = "Production"
    /// Apple's sandbox, TestFlight and App Review; signed by the same certificates as Production.
    case sandbox = "Sandbox"
}

/// An app that signed data is accepted for.
public struct AcceptedApp: Sendable, Equatable {
    /// The deployment's own name of the app.
    public var id: String
    /// Bundle ids compared byte for byte.
    public var bundleIDs: [String]
    /// Compared in Production where the data has one; nil if unknown, which compares nothing.
    public var appAppleID: Int64?
    /// Environments accepted for it.
    public var environments: [AppStoreEnvironment]

    /// Describes an app.
    public init(
        id: String, bundleIDs: [String], appAppleID: Int64? = nil,
        environments: [AppStoreEnvironment] = AppStoreEnvironment.allCases
    ) {
        self.id = id
        self.bundleIDs = bundleIDs
        self.appAppleID = appAppleID
        self.environments = environments
    }
}

/// What signed claims are compared with.
package struct AcceptedApps: Sendable {
    private let apps: [AcceptedApp]
    private let indexByBundleID: [[UInt8]: Int]

    /// Finds apps among these; of two with one bundle id the first.
    package init(_ apps: [AcceptedApp]) {
        self.apps = apps
        var index: [[UInt8]: Int] = [:]
        // Bytes, not characters: Swift's text equality would take different encodings of one letter for equal.
        for (number, app) in apps.enumerated() {
            for bundleID in app.bundleIDs where index[Array(bundleID.utf8)] == nil {
                index[Array(bundleID.utf8)] = number
            }
        }
        indexByBundleID = index
    }

    /// The app that `bundleID` belongs to.
    package func app(bundleID: String) throws(VerificationFailure) -> AcceptedApp {
        guard let index = indexByBundleID[Array(bundleID.utf8)] else {
            throw VerificationFailure(.appMismatch, .app, "the bundle id \(quoted(bundleID)) is not accepted here")
        }
        return apps[index]
    }

    /// The app with Apple's number `appAppleID`, for data that has no bundle id.
    package func app(appAppleID: Int64) throws(VerificationFailure) -> AcceptedApp {
        guard let app = apps.first(where: { $0.appAppleID == appAppleID }) else {
            throw VerificationFailure(.appMismatch, .app, "the Apple id \(appAppleID) is not accepted here")
        }
        return app
    }

    /// Compares the Apple id, which Apple sends in Production only.
    package static func check(
        appAppleID: Int64?, of app: AcceptedApp, in environment: AppStoreEnvironment?
    ) throws(VerificationFailure) {
        guard environment == .production, let expected = app.appAppleID, appAppleID != expected else { return }
        let found = appAppleID.map(String.init) ?? "none"
        throw VerificationFailure(.appMismatch, .app, "the app's Apple id is \(found), expected \(expected)")
    }

    /// The accepted environment of data for `app`, or for any app if it is not known.
    package func environment(_ raw: String, for app: AcceptedApp?) throws(VerificationFailure) -> AppStoreEnvironment {
        let accepted = app.map { $0.environments } ?? apps.flatMap(\.environments)
        guard let environment = AppStoreEnvironment(rawValue: raw) else {
            let reason =
                raw == "Xcode" || raw == "LocalTesting"
                ? "data of \(raw) is signed by a key anybody can make, so it is never accepted"
                : "the environment \(quoted(raw)) is unknown"
            throw VerificationFailure(.environmentMismatch, .environment, reason)
        }
        guard accepted.contains(environment) else {
            throw VerificationFailure(.environmentMismatch, .environment, "\(raw) is not accepted for this app")
        }
        return environment
    }
}

/// Signed text inside a sentence: short and without control characters.
package func quoted(_ text: String) -> String {
    // Bundle ids have at most 155 characters; more of a foreign text helps nobody.
    let visible = text.unicodeScalars.prefix(160).map { $0.value < 0x20 || $0.value == 0x7f ? "?" : String($0) }
    return "\"" + visible.joined() + "\""
}
