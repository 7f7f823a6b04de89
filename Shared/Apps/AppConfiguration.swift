public import Messages

/// One app of this deployment, as `apps/<id>.yaml` describes it. Complete and checked; key files are not read yet.
public struct AppConfiguration: Sendable, Equatable {
    /// Which HTTP calls an app's clients make.
    public enum Surface: String, Sendable, CaseIterable {
        /// Pre-orders, verify, wallet: docs/protocols/orders.
        case orders
        /// Packages, one balance of points, a starter pack: docs/protocols/payments.
        case points
        /// Receipts over WebSocket or JSON, a history: docs/protocols/game.
        case game
    }

    /// The app, `[a-z0-9-]{1,32}`.
    public var id: AppID
    /// Its HTTP calls.
    public var surface: Surface
    /// Host names in lower case; empty = every host that no other app with this prefix names.
    public var hosts: [String]
    /// What its paths start with, such as `/cloudpc`; empty = nothing in front.
    public var pathPrefix: String
    /// Bundle ids that Apple's signed data may name for this app.
    public var bundleIDs: [String]
    /// App Store Connect's number of the app, which Production notifications carry.
    public var appAppleID: Int64
    /// Environments whose data is accepted at all.
    public var environments: Set<StoreEnvironment>
    /// How the app's users prove who they are.
    public var loginTokens: TokenSettings
    /// How the app's servers prove who they are; nil when none may call.
    public var serviceTokens: TokenSettings?
    /// How Apple's Server API is called for it; nil: not at all.
    public var appStoreConnect: AppStoreConnectKey?
    /// Apple's password for `verifyReceipt`; nil: none is sent, which is right without subscriptions.
    public var receiptSecret: ReceiptSecret?
    /// The keys that people are hashed with for starter offers: the first for good, the others as long as somebody may
    /// come back who was hashed with them. Empty where there are no such offers.
    public var identityKeys: [TokenSettings.Key]
    /// Assets, products and policies.
    public var catalog: Catalog

    /// The clock by which its days are counted, an IANA name such as `Asia/Shanghai`; nil: UTC.
    public var timeZone: String?

    /// The files its products are in; nil if they are in the app's own.
    public var productFiles: ProductFiles?

    /// Every file besides the app's own that a change of is a change of the app.
    public var files: [String] { keyFiles + (productFiles.map { [$0.products, $0.rewards] } ?? []) }

    /// The files its keys are in.
    public var keyFiles: [String] {
        loginTokens.files + (serviceTokens?.files ?? []) + identityKeys.map(\.file)
    }
}
