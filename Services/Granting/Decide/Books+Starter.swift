import Messages

/// A starter offer that one identity uses up once, in one of Apple's books.
struct StarterKey: Hashable, Sendable, Comparable {
    /// The app.
    var app: AppID
    /// Apple's book: what was bought in the sandbox uses up nothing in production.
    var environment: StoreEnvironment
    /// The offer.
    var offer: String
    /// Whose.
    var identity: IdentityHash

    /// Lock order.
    static func < (left: Self, right: Self) -> Bool {
        (left.app, left.environment, left.offer, left.identity)
            < (right.app, right.environment, right.offer, right.identity)
    }
}

/// A purchase that used an offer up.
struct StarterClaim: Sendable, Equatable {
    /// What it used up.
    var key: StarterKey
    /// The purchase.
    var transaction: TransactionID
    /// Whose it was.
    var customer: CustomerID
}

/// Who a customer is to starter offers, and that row's place.
struct CustomerIdentity: Hashable, Sendable, Comparable {
    /// Who.
    var customer: CustomerID
    /// Under which hash.
    var identity: IdentityHash

    /// Insert order.
    static func < (left: Self, right: Self) -> Bool {
        (left.customer, left.identity) < (right.customer, right.identity)
    }
}

/// Starter offers: once an identity, whoever's account it is in, for ever.
extension Books {
    /// What a purchase of a starter product may have.
    enum StarterVerdict: Equatable {
        /// So much, and the offer is used up by it.
        case granted([AssetAmount])
        /// So much instead: it was used up before.
        case substituted([AssetAmount])
        /// Not now.
        case held(HeldReason)
    }

    /// Keeps who a customer is. Hashes that no gateway of ours makes are left out.
    mutating func remember(_ hashes: [IdentityHash]?, of customer: CustomerID?) {
        guard let customer else { return }
        for identity in hashes ?? [] where identity.isUsable {
            guard identities[customer, default: []].insert(identity).inserted else { continue }
            changes.identities.append(CustomerIdentity(customer: customer, identity: identity))
        }
    }

    /// Decides a purchase of a starter product, and uses the offer up if it is granted by it.
    mutating func decideStarter(
        _ starter: StarterOffer, _ product: CatalogProduct, _ purchase: Purchase, _ owner: CustomerID
    ) -> StarterVerdict {
        let statement = purchase.statement
        let known = identities[owner] ?? []
        guard !known.isEmpty else { return .held(.identityUnknown) }
        let keys = known.sorted().map {
            StarterKey(
                app: purchase.app, environment: statement.environment, offer: starter.offer, identity: $0)
        }
        let isUsed = keys.contains { key in claims[key].map { $0.transaction != statement.transactionID } ?? false }
        // Units beyond the first were never on offer.
        let units = isUsed ? 0 : 1
        let others = statement.quantity - Int64(units)
        guard others == 0 || starter.substitute != nil else { return .held(.ineligible) }
        guard
            let amounts = Self.sum(
                Self.times(product.amounts, Int64(units)), Self.times(starter.substitute ?? [], others))
        else { return .held(.amountOverflow) }
        guard !isUsed else { return .substituted(amounts) }
        for key in keys where claims[key] == nil {
            claims[key] = StarterClaim(key: key, transaction: statement.transactionID, customer: owner)
            changes.claims.append(key)
        }
        return .granted(amounts)
    }

    /// The offers that a customer has used up in a book where they may be granted anything. What was used up under one of
    /// their hashes is used up under all of them from now on: so a key can be retired once its users have come back.
    mutating func usedOffers(of customer: CustomerID, in app: AppID) -> [String] {
        let known = (identities[customer] ?? []).sorted()
        let catalog = catalog(of: app)
        var used: Set<String> = []
        for environment in StoreEnvironment.allCases {
            let isOpen = environment == .production || catalog.allowsSandbox(for: customers[customer]?.userID)
            for offer in catalog.offers {
                let keys = known.map {
                    StarterKey(app: app, environment: environment, offer: offer, identity: $0)
                }
                guard let claim = keys.compactMap({ claims[$0] }).first else { continue }
                if isOpen { used.insert(offer) }
                for key in keys where claims[key] == nil {
                    claims[key] = StarterClaim(key: key, transaction: claim.transaction, customer: claim.customer)
                    changes.claims.append(key)
                }
            }
        }
        return used.sorted()
    }

    private static func times(_ amounts: [AssetAmount], _ units: Int64) -> [AssetAmount]? {
        guard units > 0 else { return [] }
        var result: [AssetAmount] = []
        for part in amounts {
            guard let amount = Amounts.product(part.amount, units) else { return nil }
            result.append(AssetAmount(asset: part.asset, amount: amount))
        }
        return result
    }

    private static func sum(_ left: [AssetAmount]?, _ right: [AssetAmount]?) -> [AssetAmount]? {
        guard let left, let right else { return nil }
        var result = left
        for part in right {
            guard let place = result.firstIndex(where: { $0.asset == part.asset }) else {
                result.append(part)
                continue
            }
            let (amount, overflow) = result[place].amount.addingReportingOverflow(part.amount)
            if overflow { return nil }
            result[place].amount = amount
        }
        return result
    }
}
