/// Question: what a user may use besides the wallet.
public struct EntitlementsRequested: Message {
    /// Routing key.
    public static var type: MessageType { .entitlementsRequested }
    /// The app.
    public var app: AppID
    /// Whose.
    public var userID: UserID

    /// Composes the question.
    public init(app: AppID, userID: UserID) {
        self.app = app
        self.userID = userID
    }
}

/// How an entitlement stands.
public enum EntitlementStatus: String, Codable, Sendable, CaseIterable {
    /// Paid for.
    case active = "ACTIVE"
    /// Not paid for yet; Apple tries to collect, and the customer keeps access meanwhile.
    case gracePeriod = "GRACE_PERIOD"
    /// Access ended; Apple still tries to collect.
    case billingRetry = "BILLING_RETRY"
    /// It ended.
    case expired = "EXPIRED"
    /// Apple took it back.
    case revoked = "REVOKED"
}

/// An entitlement of a user in one of Apple's environments.
public struct EntitlementState: Codable, Sendable, Equatable {
    /// Its name in the catalogue.
    public var name: String
    /// Production or Sandbox.
    public var environment: StoreEnvironment
    /// Whether it may be used now.
    public var isActive: Bool
    /// How it stands.
    public var status: EntitlementStatus
    /// The product it comes from.
    public var productID: ProductID
    /// When it ends or ended (ms since 1970); nil: never.
    public var until: Int64?
    /// Subscriptions: whether it renews.
    public var willRenew: Bool?
    /// Subscriptions: the product of the next period.
    public var renewsAs: ProductID?
    /// Subscriptions: Apple's reason for the end: 1 cancelled, 2 billing error, 3 no consent to a price increase, 4 not
    /// available, 5 other, or newer.
    public var expirationIntent: Int64?

    /// Composes the required part; optional fields are set afterwards.
    public init(
        name: String, environment: StoreEnvironment, isActive: Bool, status: EntitlementStatus, productID: ProductID
    ) {
        self.name = name
        self.environment = environment
        self.isActive = isActive
        self.status = status
        self.productID = productID
    }
}

/// A user's entitlements, ended ones included; those never held are absent.
public struct EntitlementsAnswered: Message {
    /// Routing key of the type.
    public static var type: MessageType { .entitlementsAnswered }
    /// Sorted by name.
    public var entitlements: [EntitlementState]

    /// Composes the answer.
    public init(entitlements: [EntitlementState]) { self.entitlements = entitlements }
}
