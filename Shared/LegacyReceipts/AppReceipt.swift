import AppStore

/// What a receipt says, by the names of Apple's documents. Dates are milliseconds since 1970.
public struct AppReceipt: Sendable, Equatable {
    /// `Production`, `ProductionVPP`, `ProductionSandbox`, `ProductionVPPSandbox`, `Xcode`, or newer.
    public let receiptType: String
    /// The app's number in the App Store; 0 or absent in the sandbox.
    public let appItemID: Int64?
    /// For which app.
    public let bundleID: String
    /// The app's version.
    public let applicationVersion: String?
    /// Part of the device's hash.
    public let opaqueValue: [UInt8]?
    /// SHA-1 over device, ``opaqueValue`` and bundle id; only a client that tells its device could be checked by it.
    public let sha1Hash: [UInt8]?
    /// When the receipt was made: its certificates are judged at this time, and newer receipts win.
    public let creationDate: Int64
    /// Apple's number of the download.
    public let downloadID: Int64?
    /// Apple's number of the version.
    public let versionExternalIdentifier: Int64?
    /// First download of the app by this Apple account.
    public let originalPurchaseDate: Int64?
    /// The version of that time.
    public let originalApplicationVersion: String?
    /// When the receipt of a volume purchase ends.
    public let expirationDate: Int64?
    /// When the app was ordered before its release.
    public let preorderDate: Int64?
    /// The purchases in it: everything bought once for ever, and consumables until the app finishes them.
    public let purchases: [InAppPurchase]
    /// Numbers of attributes nobody has documented: told, so that a new one is noticed; not read.
    public let unknownAttributes: Set<Int64>

    /// Documented by Apple, or seen and known to say nothing about purchases (6 to 11, 13, 14, 20, 25).
    private static let known = Set<Int64>(0...21).union([25, 32])

    /// Reads the content of a container.
    init(_ content: ArraySlice<UInt8>) throws(VerificationFailure) {
        let attributes = try ReceiptAttributes(content, owner: "", repeating: 17)
        receiptType = try attributes.required(attributes.text(0, "receipt_type"), "receipt_type")
        appItemID = try attributes.integer(1, "app_item_id")
        bundleID = try attributes.required(attributes.text(2, "bundle_id"), "bundle_id")
        applicationVersion = try attributes.text(3, "application_version")
        opaqueValue = attributes.bytes(4)
        sha1Hash = attributes.bytes(5)
        creationDate = try attributes.required(
            attributes.date(12, "receipt_creation_date"), "receipt_creation_date")
        downloadID = try attributes.integer(15, "download_id")
        versionExternalIdentifier = try attributes.integer(16, "version_external_identifier")
        originalPurchaseDate = try attributes.date(18, "original_purchase_date")
        originalApplicationVersion = try attributes.text(19, "original_application_version")
        expirationDate = try attributes.date(21, "expiration_date")
        preorderDate = try attributes.date(32, "preorder_date")
        var purchases: [InAppPurchase] = []
        purchases.reserveCapacity(attributes.repeated.count)
        for (place, content) in attributes.repeated.enumerated() {
            purchases.append(try InAppPurchase(content, place: place))
        }
        self.purchases = purchases
        unknownAttributes = attributes.numbers.subtracting(Self.known)
    }

    /// Production or Sandbox by Apple's names; another text, the name of no environment, for what proves nothing.
    public var environment: String {
        switch receiptType {
        case "Production", "ProductionVPP": "Production"
        case "ProductionSandbox", "ProductionVPPSandbox": "Sandbox"
        case "Xcode": "Xcode"
        default: "of receipts of type \(receiptType)"
        }
    }
}
