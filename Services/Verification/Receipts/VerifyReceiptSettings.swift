import AppStore
import Service

/// Whether and where Apple is asked about receipts: the settings `VERIFY_RECEIPT…`.
struct VerifyReceiptSettings: Sendable, Equatable {
    /// When Apple is asked.
    enum Mode: String, CaseIterable, Sendable {
        /// Never: what cannot be judged here is refused.
        case off
        /// About receipts that cannot be judged here, and no others.
        case fallback
    }

    /// When Apple is asked.
    let mode: Mode
    /// The address for receipts of the App Store.
    let production: String
    /// The address for receipts of the sandbox.
    let sandbox: String
    /// A proxy's URL.
    let proxy: String?
    /// How long one answer may take.
    let timeout: Duration

    /// Whether anybody is asked.
    var isOn: Bool { mode != .off }

    /// The two addresses of Apple's documentation (developer.apple.com/documentation/appstorereceipts/verifyreceipt).
    static let productionAddress = "https://buy.itunes.apple.com/verifyReceipt"
    static let sandboxAddress = "https://sandbox.itunes.apple.com/verifyReceipt"

    /// Reads them.
    init(_ reader: inout SettingsReader) {
        mode = reader.choice(
            "VERIFY_RECEIPT", default: Mode.off,
            meaning: "whether Apple's verifyReceipt is asked about receipts that cannot be judged here: off, fallback")
        production = reader.text(
            "VERIFY_RECEIPT_PRODUCTION", default: Self.productionAddress,
            meaning: "its address for receipts of the App Store")
        sandbox = reader.text(
            "VERIFY_RECEIPT_SANDBOX", default: Self.sandboxAddress, meaning: "its address for receipts of the sandbox")
        proxy = reader.optionalText("VERIFY_RECEIPT_PROXY", meaning: "a proxy's URL to ask through")
        // Two answers in a row, and the database's patience with an open transaction is 10 s.
        timeout = .milliseconds(
            reader.integer(
                "VERIFY_RECEIPT_TIMEOUT", default: 4_000, in: 50...4_500, meaning: "how long one answer may take, in ms"
            ))
        for (name, url) in [("VERIFY_RECEIPT_PRODUCTION", production), ("VERIFY_RECEIPT_SANDBOX", sandbox)] {
            let isURL = ["https://", "http://"].contains { url.hasPrefix($0) && url.utf8.count > $0.utf8.count }
            if !isURL { reader.problem(name, "is no http or https URL") }
        }
    }

    /// For tests.
    init(
        mode: Mode = .fallback, production: String, sandbox: String, proxy: String? = nil,
        timeout: Duration = .seconds(4)
    ) {
        self.mode = mode
        self.production = production
        self.sandbox = sandbox
        self.proxy = proxy
        self.timeout = timeout
    }

    /// Where receipts of an environment are asked about.
    func address(of environment: AppStoreEnvironment) -> String {
        environment == .production ? production : sandbox
    }
}
