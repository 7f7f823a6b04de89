import Crypto
public import JSON

/// What App Store Connect knows of an app: where its notifications go, and whose key may call the Server API.
public struct SimulatedApp: Sendable, Equatable {
    /// Apple's rule for bundle ids; also what makes them safe in file names.
    static let bundleIDBytes = 1...155

    /// The app.
    public var bundleID: String
    /// Apple's number of the app; told in Production only.
    public var appAppleID: Int64?
    /// Where Production's notifications are posted, and the Sandbox's unless it has an address of its own.
    public var notificationURL: String?
    /// Where the Sandbox's notifications are posted.
    public var sandboxNotificationURL: String?
    /// `iss` of the tokens of its server.
    public var issuerID: String
    /// `kid` of the tokens of its server.
    public var keyID: String
    /// What their signatures are checked with, in PEM; nil refuses every token.
    public var publicKey: String?

    /// An app with the issuer and key ids of apps that name none.
    public init(
        bundleID: String, appAppleID: Int64? = nil, notificationURL: String? = nil,
        sandboxNotificationURL: String? = nil, issuerID: String = SimulatedApp.usualIssuerID,
        keyID: String = SimulatedApp.usualKeyID, publicKey: String? = nil
    ) {
        self.bundleID = bundleID
        self.appAppleID = appAppleID
        self.notificationURL = notificationURL
        self.sandboxNotificationURL = sandboxNotificationURL
        self.issuerID = issuerID
        self.keyID = keyID
        self.publicKey = publicKey
    }

    /// The issuer of an app that names none.
    public static let usualIssuerID = "57246542-96fe-1a63-e053-0824d011072a"
    /// The key of an app that names none.
    public static let usualKeyID = "2X9R4HXF34"

    /// Where a notification is posted. Without a Sandbox address the Sandbox's go to Production's; with only a Sandbox
    /// address nothing is sent in Production (App Store Connect help, "Enter server URLs").
    public func address(environment: String) -> String? {
        environment == "Production" ? notificationURL : sandboxNotificationURL ?? notificationURL
    }

    /// Reads the body of `PUT /simulator/apps/{bundleId}`, or what the store kept.
    public init(_ object: JSONObject, bundleID: String? = nil) throws(StoreError) {
        do throws(JSONError) {
            let named = try object.optionalString("bundleId")
            self.init(
                bundleID: bundleID ?? named ?? "", appAppleID: try object.optionalInt64("appAppleId"),
                notificationURL: try object.optionalString("notificationUrl"),
                sandboxNotificationURL: try object.optionalString("sandboxNotificationUrl"),
                issuerID: try object.optionalString("issuerId") ?? Self.usualIssuerID,
                keyID: try object.optionalString("keyId") ?? Self.usualKeyID,
                publicKey: try object.optionalString("publicKey"))
        } catch {
            throw .invalid(field: error.path, problem: "is missing or has the wrong type (\(error.code))")
        }
        try validate()
    }

    /// What the store keeps and answers.
    public var json: JSONObject {
        var object: JSONObject = [
            "bundleId": .string(bundleID), "issuerId": .string(issuerID), "keyId": .string(keyID),
        ]
        if let appAppleID { object.set("appAppleId", .integer(appAppleID)) }
        if let notificationURL { object.set("notificationUrl", .string(notificationURL)) }
        if let sandboxNotificationURL { object.set("sandboxNotificationUrl", .string(sandboxNotificationURL)) }
        if let publicKey { object.set("publicKey", .string(publicKey)) }
        return object
    }

    private func validate() throws(StoreError) {
        guard Self.bundleIDBytes.contains(bundleID.utf8.count),
            bundleID.utf8.allSatisfy({
                (0x30...0x39).contains($0) || (0x41...0x5A).contains($0)
                    || (0x61...0x7A).contains($0) || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "-")
            })
        else { throw .invalid(field: "bundleId", problem: "must be letters, digits, dots and hyphens") }
        for (name, url) in [("notificationUrl", notificationURL), ("sandboxNotificationUrl", sandboxNotificationURL)] {
            guard let url else { continue }
            guard url.hasPrefix("http://") || url.hasPrefix("https://") else {
                throw .invalid(field: name, problem: "must begin with http:// or https://")
            }
        }
        guard let publicKey else { return }
        guard (try? P256.PublicKey(pem: publicKey)) != nil else {
            throw .invalid(field: "publicKey", problem: "must be a P-256 public key in PEM")
        }
    }
}
