/// One product as the catalogue defines it.
public struct CatalogProduct: Codable, Sendable, Equatable {
    /// The app's own code, such as `DANBING_60`.
    public var code: String
    /// App Store Connect's product id.
    public var productID: ProductID
    /// Apple's type: `Consumable`, `Non-Consumable`, `Non-Renewing Subscription`, `Auto-Renewable Subscription`.
    public var productType: String
    /// What one unit grants to the wallet.
    public var amounts: [AssetAmount]
    /// The entitlement it gives, if any.
    public var entitlement: String?
    /// How long the entitlement lasts; nil with an entitlement means for ever.
    public var entitlementDays: Int64?
    /// The app's own number for what one unit gives, which clients are told on delivery; nothing is decided by it.
    public var rewardID: Int64?
    /// Set if an identity may buy it once.
    public var starter: StarterOffer?
    /// Whether it is on sale. A disabled product that was paid is still delivered.
    public var isEnabled: Bool
    /// Place in the list.
    public var sort: Int64
    /// For people.
    public var remark: String?

    /// Composes the product.
    public init(
        code: String, productID: ProductID, productType: String, amounts: [AssetAmount], entitlement: String? = nil,
        entitlementDays: Int64? = nil, isEnabled: Bool, sort: Int64, remark: String? = nil
    ) {
        self.code = code
        self.productID = productID
        self.productType = productType
        self.amounts = amounts
        self.entitlement = entitlement
        self.entitlementDays = entitlementDays
        self.isEnabled = isEnabled
        self.sort = sort
        self.remark = remark
    }
}

/// Who may be granted sandbox purchases.
public enum SandboxAudience: String, Codable, Sendable, CaseIterable {
    /// No one.
    case nobody
    /// Reviewers and testers by user id.
    case listed
    /// Everyone: staging only.
    case everybody
}

/// The rules of an app that Granting decides by.
public struct CatalogPolicies: Codable, Sendable, Equatable {
    /// Who may be granted sandbox purchases.
    public var sandboxAudience: SandboxAudience
    /// Accounts used by App Review.
    public var reviewers: [UserID]
    /// Internal testers.
    public var testers: [UserID]
    /// Whether a purchase without an appAccountToken may be claimed by its first caller.
    public var requiresAppAccountToken: Bool
    /// Hours until a new order's label becomes "expired".
    public var orderExpiryHours: Int64
    /// The share of every grant that repays what earlier refunds left owed, in milliunits of per cent (100,000 = all of
    /// it); nil keeps debts until an operator decides.
    public var debtRepaymentShare: Int64?
    /// What many refunds lead to; nil: to nothing.
    public var risk: RiskPolicy?
    /// How Apple's questions about the use of a purchase are answered; nil: never.
    public var consumption: ConsumptionPolicy?

    /// Composes the policies.
    public init(
        sandboxAudience: SandboxAudience, reviewers: [UserID], testers: [UserID], requiresAppAccountToken: Bool,
        orderExpiryHours: Int64, debtRepaymentShare: Int64? = nil, risk: RiskPolicy? = nil,
        consumption: ConsumptionPolicy? = nil
    ) {
        self.sandboxAudience = sandboxAudience
        self.reviewers = reviewers
        self.testers = testers
        self.requiresAppAccountToken = requiresAppAccountToken
        self.orderExpiryHours = orderExpiryHours
        self.debtRepaymentShare = debtRepaymentShare
        self.risk = risk
        self.consumption = consumption
    }
}

/// An asset of an app.
public struct CatalogAsset: Codable, Sendable, Equatable {
    /// Its id, such as `TIME_MINUTES`.
    public var asset: AssetID
    /// Its key in the balance JSON, such as `timeMinutes`.
    public var jsonName: String
    /// The code a spend is refused with when there is too little.
    public var insufficientCode: AnswerCode

    /// Composes the asset.
    public init(asset: AssetID, jsonName: String, insufficientCode: AnswerCode) {
        self.asset = asset
        self.jsonName = jsonName
        self.insufficientCode = insufficientCode
    }
}

/// Everything of an app that Granting decides by: assets, products, policies. In force as a whole or not at all.
public struct CatalogDefinition: Codable, Sendable, Equatable {
    /// Assets.
    public var assets: [CatalogAsset]
    /// Products, whatever their order.
    public var products: [CatalogProduct]
    /// Policies.
    public var policies: CatalogPolicies

    /// Composes the catalogue.
    public init(assets: [CatalogAsset], products: [CatalogProduct], policies: CatalogPolicies) {
        self.assets = assets
        self.products = products
        self.policies = policies
    }
}

/// An operator imports a catalogue. In force from Granting's commit.
public struct CatalogImportRequested: Message {
    /// Routing key.
    public static var type: MessageType { .catalogImportRequested }
    /// The app.
    public var app: AppID
    /// Who imports it, for the record.
    public var actor: String
    /// The version the operator saw when deciding; another one in force refuses the import (0 = none yet).
    public var expectedVersion: Int64
    /// The whole catalogue. Products it does not name are disabled, never forgotten.
    public var definition: CatalogDefinition

    /// Composes the message.
    public init(app: AppID, actor: String, expectedVersion: Int64, definition: CatalogDefinition) {
        self.app = app
        self.actor = actor
        self.expectedVersion = expectedVersion
        self.definition = definition
    }
}

/// A catalogue came into force.
public struct CatalogImported: Message {
    /// Routing key.
    public static var type: MessageType { .catalogImported }
    /// The new version.
    public var catalogVersion: Int64
    /// Who imported it.
    public var actor: String
    /// Products whose definition changed.
    public var changedProducts: [ProductID]
    /// All of it, without the users who may buy in the sandbox: what it takes to put it back where it was lost; absent in
    /// facts of before.
    public var definition: CatalogDefinition?

    /// Composes the message.
    public init(
        catalogVersion: Int64, actor: String, changedProducts: [ProductID], definition: CatalogDefinition? = nil
    ) {
        self.catalogVersion = catalogVersion
        self.actor = actor
        self.changedProducts = changedProducts
        self.definition = definition
    }
}

/// Question: the catalogue in force (the product list of a surface, the operator's difference).
public struct CatalogRequested: Message {
    /// Routing key.
    public static var type: MessageType { .catalogRequested }
    /// The app.
    public var app: AppID

    /// Composes the question.
    public init(app: AppID) { self.app = app }
}

/// The catalogue in force, or what became of an import.
public struct CatalogAnswered: Message {
    /// Routing key of the type.
    public static var type: MessageType { .catalogAnswered }
    /// The version in force; 0 = none yet.
    public var catalogVersion: Int64
    /// The catalogue in force; nil if there is none.
    public var definition: CatalogDefinition?
    /// Why an import was refused, a sentence each; empty when it was not.
    public var problems: [String]

    /// Composes the answer.
    public init(catalogVersion: Int64, definition: CatalogDefinition?, problems: [String]) {
        self.catalogVersion = catalogVersion
        self.definition = definition
        self.problems = problems
    }
}
