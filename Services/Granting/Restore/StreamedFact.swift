import AMQP
import Messages
import Pipeline

/// A fact as the stream has it: what this service once said, and may have forgotten since.
struct StreamedFact: Sendable {
    /// What it says.
    enum Body: Sendable {
        case orderCreated(OrderCreated)
        case tokenIssued(TokenIssued)
        case granted(PurchaseGranted)
        case held(PurchaseHeld)
        case noted(PurchaseNoted)
        case frozen(PurchaseFrozen)
        case clawedBack(PurchaseClawedBack)
        case debtRepaid(DebtRepaid)
        case riskFlagged(RiskFlagged)
        case riskCleared(RiskCleared)
        case spendDecided(SpendDecided)
        case consentChanged(ConsentChanged)
        case catalogImported(CatalogImported)
        case userErased(UserErased)
        case userTransferred(UserTransferred)
        case swept(SandboxSwept)
    }

    /// What travels with it.
    let header: MessageHeader
    /// The JSON as it was said, kept so that every copy stays equal.
    let json: [UInt8]
    /// What it says.
    let body: Body
    /// Its app.
    let app: AppID
    /// The message that caused it.
    let cause: MessageID
    /// What it is about; the id follows from it.
    let key: String
    /// Which change of `key`.
    let revision: Int64

    /// Reads a message of the stream; nil if it is no fact of ours, or not the one its id says.
    init?(_ delivery: AMQP.Delivery) {
        guard case .success(let incoming) = Envelope.read(delivery, from: Topology.facts) else { return nil }
        self.init(incoming)
    }

    /// The same of a message whose properties are read.
    init?(_ incoming: Incoming) {
        guard let cause = incoming.header.causationID, let app = incoming.header.app,
            let body = Self.body(incoming), let name = Self.name(of: body, incoming.header.environment, app)
        else { return nil }
        (header, json, self.body, self.app, self.cause) = (incoming.header, incoming.body, body, app, cause)
        (key, revision) = name
        let id = Fact.identifier(type: header.type, key: key, revision: revision, cause: cause)
        guard id == header.id else { return nil }
    }

    /// Whose it is; nil: nobody's, or an app's.
    var customer: CustomerID? {
        switch body {
        case .orderCreated(let body): body.customer
        case .tokenIssued(let body): body.customer
        case .granted(let body): body.customer
        case .held(let body): body.customer ?? body.submitter
        case .noted(let body): body.customer
        case .frozen(let body): body.customer
        case .clawedBack(let body): body.customer
        case .debtRepaid(let body): body.customer
        case .riskFlagged(let body): body.customer
        case .riskCleared(let body): body.customer
        case .spendDecided(let body): body.customer
        case .consentChanged(let body): body.customer
        case .userErased(let body): body.customer
        case .userTransferred(let body): body.customer
        case .swept(let body): body.customer
        case .catalogImported: nil
        }
    }

    /// Everybody it names: whose it is, and for whom it waits besides.
    var customers: [CustomerID] {
        guard case .held(let body) = body else { return [customer].compactMap { $0 } }
        return Set([body.customer, body.submitter].compactMap { $0 }).sorted()
    }

    /// Which user ``customer`` is, as a keyed hash.
    var userDigest: String? {
        switch body {
        case .orderCreated(let body): body.userDigest
        case .tokenIssued(let body): body.userDigest
        case .granted(let body): body.userDigest
        case .held(let body): body.userDigest
        case .noted(let body): body.userDigest
        case .consentChanged(let body): body.userDigest
        case .spendDecided(let body): body.userDigest
        default: nil
        }
    }

    /// What Apple signed about the purchase it speaks of.
    var statement: VerifiedTransaction? {
        switch body {
        case .granted(let body): body.statement
        case .held(let body): body.statement
        case .noted(let body): body.statement
        case .frozen(let body): body.statement
        case .clawedBack(let body): body.statement
        default: nil
        }
    }

    /// The purchases it speaks of.
    var purchases: [TransactionKey] {
        guard let environment = header.environment else { return [] }
        let ids: [TransactionID] =
            switch body {
            case .granted(let body): [body.transactionID]
            case .held(let body): [body.transactionID]
            case .noted(let body): [body.transactionID, body.deliveredBy].compactMap { $0 }
            case .frozen(let body): [body.transactionID]
            case .clawedBack(let body): [body.transactionID]
            case .debtRepaid(let body): [body.transactionID, body.paidBy]
            case .riskFlagged(let body): [body.transactionID]
            case .swept(let body): body.transactionIDs
            default: []
            }
        return ids.map { TransactionKey(environment: environment, transactionID: $0) }
            + [statement?.key].compactMap { $0 }
    }

    private static func body(_ incoming: Incoming) -> Body? {
        switch incoming.header.type {
        case .orderCreated: incoming.read(OrderCreated.self).map { .orderCreated($0) }
        case .tokenIssued: incoming.read(TokenIssued.self).map { .tokenIssued($0) }
        case .purchaseGranted: incoming.read(PurchaseGranted.self).map { .granted($0) }
        case .purchaseHeld: incoming.read(PurchaseHeld.self).map { .held($0) }
        case .purchaseNoted: incoming.read(PurchaseNoted.self).map { .noted($0) }
        case .purchaseFrozen: incoming.read(PurchaseFrozen.self).map { .frozen($0) }
        case .purchaseClawedBack: incoming.read(PurchaseClawedBack.self).map { .clawedBack($0) }
        case .debtRepaid: incoming.read(DebtRepaid.self).map { .debtRepaid($0) }
        case .riskFlagged: incoming.read(RiskFlagged.self).map { .riskFlagged($0) }
        case .riskCleared: incoming.read(RiskCleared.self).map { .riskCleared($0) }
        case .spendDecided: incoming.read(SpendDecided.self).map { .spendDecided($0) }
        case .consentChanged: incoming.read(ConsentChanged.self).map { .consentChanged($0) }
        case .catalogImported: incoming.read(CatalogImported.self).map { .catalogImported($0) }
        case .userErased: incoming.read(UserErased.self).map { .userErased($0) }
        case .userTransferred: incoming.read(UserTransferred.self).map { .userTransferred($0) }
        case .sandboxSwept: incoming.read(SandboxSwept.self).map { .swept($0) }
        default: nil
        }
    }

    /// Key and revision, as whoever says the fact makes them.
    private static func name(
        of body: Body, _ environment: StoreEnvironment?, _ app: AppID
    ) -> (key: String, revision: Int64)? {
        func purchase(_ id: TransactionID) -> String? { environment.map { "\($0.rawValue)/\(id)" } }
        switch body {
        case .orderCreated(let body): return (body.orderNumber.rawValue, 0)
        case .tokenIssued(let body): return (body.customer.rawValue, 0)
        case .granted(let body): return purchase(body.transactionID).map { ($0, 0) }
        case .held(let body): return purchase(body.transactionID).map { ($0, 0) }
        case .noted(let body): return purchase(body.transactionID).map { ($0, 0) }
        case .frozen(let body): return purchase(body.transactionID).map { ($0, 0) }
        case .clawedBack(let body): return purchase(body.transactionID).map { ($0, body.revision) }
        case .debtRepaid(let body): return purchase(body.transactionID).map { ("\($0)/\(body.asset)", 0) }
        case .riskFlagged(let body):
            return purchase(body.transactionID).map { ("\($0)/\(body.kind.rawValue)", body.revision) }
        case .riskCleared(let body): return (body.customer.rawValue, 0)
        case .spendDecided(let body): return ("\(body.customer)/\(body.sourceID)", 0)
        case .consentChanged(let body): return (body.customer.rawValue, body.revision)
        case .catalogImported(let body): return (app.rawValue, body.catalogVersion)
        case .userErased(let body): return (body.customer.rawValue, 0)
        case .userTransferred(let body): return (body.customer.rawValue, 0)
        case .swept(let body): return ("\(body.customer)/\(body.sweep)", 0)
        }
    }
}
