import HTTPServer
import JSON
import Messages

/// The HTTP calls of the `orders` surface: pre-orders, verification of signed transactions, a wallet with a ledger.
///
/// `docs/protocols/orders/api.md` describes each. Every user id comes from the token, never from a body, but for
/// `consume`, which only servers may call.
struct OrdersSurface: Surface {
    private let asker: any Asker
    private let desk: PurchaseDesk
    private let now: @Sendable () -> Int64

    /// Longest body of calls without a JWS, in bytes: their members have at most some 500.
    static let smallBody = 4 << 10
    /// The calls that carry a JWS.
    static let verifyRoute = "/api/iap/apple/verify"
    static let verifyWithoutOrderRoute = "/api/iap/apple/verify-without-order"
    /// Consent to telling Apple how much of a purchase was used.
    static let consentRoute = "/api/iap/consumption-consent"

    /// The surface. `now` is in milliseconds since 1970.
    init(asker: any Asker, security: SecurityLog, now: @escaping @Sendable () -> Int64) {
        self.asker = asker
        desk = PurchaseDesk(asker: asker, security: security)
        self.now = now
    }

    static var description: [UInt8] { PackageResources.orders_json }

    static func bodyLimit(path: String) -> Int? {
        path.hasSuffix(verifyRoute) || path.hasSuffix(verifyWithoutOrderRoute) ? VerifyBody.longestBody : smallBody
    }

    /// All calls.
    var endpoints: [(method: String, endpoint: Endpoint)] {
        [
            ("GET", query("/api/iap/products", products)),
            ("POST", command("/api/iap/orders", .login, order)),
            ("POST", verify(Self.verifyRoute, needsOrder: true)),
            ("POST", verify(Self.verifyWithoutOrderRoute, needsOrder: false)),
            ("GET", query("/api/iap/transactions/{transactionId}", transaction)),
            ("GET", query("/api/iap/entitlements", entitlements)),
            ("GET", query("/api/wallet/balance", balance)),
            ("GET", query("/api/wallet/ledger", ledger)),
            ("POST", command("/api/wallet/consume", .service, consume)),
            ("GET", query(Self.consentRoute, consent)),
            ("PUT", command(Self.consentRoute, .login, giveConsent)),
            ("DELETE", query(Self.consentRoute, withdrawConsent)),
        ]
    }

    private typealias Answering = @Sendable (Call) async throws(Problem) -> JSONObject?

    private func query(_ route: String, _ answer: @escaping Answering) -> Endpoint {
        Endpoint(route: route, token: .login, bodyLimit: nil, subject: .other, answer: answer)
    }

    private func command(_ route: String, _ token: TokenKind, _ answer: @escaping Answering) -> Endpoint {
        Endpoint(route: route, token: token, bodyLimit: Self.smallBody, subject: .other, answer: answer)
    }

    private func verify(_ route: String, needsOrder: Bool) -> Endpoint {
        Endpoint(route: route, token: .login, bodyLimit: VerifyBody.longestBody, subject: .purchase) {
            (call) throws(Problem) in
            try await verify(call, needsOrder: needsOrder)
        }
    }

    @Sendable private func verify(_ call: Call, needsOrder: Bool) async throws(Problem) -> JSONObject? {
        let body = try VerifyBody(call.body, needsOrder: needsOrder)
        let question = PurchaseSubmitted(
            app: call.app.id, userID: call.userID, orderNumber: body.orderNumber,
            signedTransaction: body.signedTransaction, identities: call.identities)
        let answer = try await desk.submit(question, for: call)
        return try PurchaseJSON.body(answer, app: call.app)
    }

    @Sendable private func products(_ call: Call) async throws(Problem) -> JSONObject? {
        let question = CatalogRequested(app: call.app.id)
        return WalletJSON.products(try await asker.ask(question, for: call, expecting: CatalogAnswered.self))
    }

    @Sendable private func order(_ call: Call) async throws(Problem) -> JSONObject? {
        let body = try OrderBody(call.body)
        let draw = OrderDraw(now: now())
        var question = OrderRequested(
            app: call.app.id, userID: call.userID, productID: body.productID, orderNumber: draw.orderNumber,
            appAccountToken: draw.appAccountToken)
        question.identities = call.identities
        return try WalletJSON.order(try await asker.ask(question, for: call, expecting: OrderAnswered.self))
    }

    @Sendable private func transaction(_ call: Call) async throws(Problem) -> JSONObject? {
        let id = try call.transactionID()
        let question = TransactionRequested(app: call.app.id, userID: call.userID, transactionID: id)
        return try WalletJSON.transaction(
            try await asker.ask(question, for: call, expecting: TransactionAnswered.self))
    }

    @Sendable private func entitlements(_ call: Call) async throws(Problem) -> JSONObject? {
        let question = EntitlementsRequested(app: call.app.id, userID: call.userID)
        return EntitlementJSON.body(try await asker.ask(question, for: call, expecting: EntitlementsAnswered.self))
    }

    @Sendable private func balance(_ call: Call) async throws(Problem) -> JSONObject? {
        let question = BalanceRequested(app: call.app.id, userID: call.userID)
        let answer = try await asker.ask(question, for: call, expecting: BalanceAnswered.self)
        return AssetJSON.balances(answer.balances, of: call.app)
    }

    @Sendable private func ledger(_ call: Call) async throws(Problem) -> JSONObject? {
        let page = try LedgerPage(call)
        let question = LedgerRequested(
            app: call.app.id, userID: call.userID, asset: page.asset, before: page.before, limit: page.limit)
        return WalletJSON.ledger(try await asker.ask(question, for: call, expecting: LedgerAnswered.self))
    }

    @Sendable private func consume(_ call: Call) async throws(Problem) -> JSONObject? {
        let body = try ConsumeBody(call.body)
        let question = SpendRequested(
            app: call.app.id, userID: body.userID, asset: body.asset, amount: body.amount, sourceID: body.sourceID,
            deadline: body.deadline)
        let answer = try await asker.ask(question, for: call, expecting: SpendAnswered.self)
        return try WalletJSON.spend(answer, sourceID: body.sourceID)
    }

    @Sendable private func consent(_ call: Call) async throws(Problem) -> JSONObject? {
        let question = ConsentRequested(app: call.app.id, userID: call.userID)
        return ConsentJSON.body(try await asker.ask(question, for: call, expecting: ConsentAnswered.self))
    }

    @Sendable private func giveConsent(_ call: Call) async throws(Problem) -> JSONObject? {
        try await changeConsent(call, isGiven: true, termsVersion: try ConsentJSON.termsVersion(call.body))
    }

    @Sendable private func withdrawConsent(_ call: Call) async throws(Problem) -> JSONObject? {
        try await changeConsent(call, isGiven: false, termsVersion: nil)
    }

    private func changeConsent(
        _ call: Call, isGiven: Bool, termsVersion: String?
    ) async throws(Problem) -> JSONObject? {
        let question = ConsentChangeRequested(
            app: call.app.id, userID: call.userID, isGiven: isGiven, termsVersion: termsVersion)
        return ConsentJSON.body(try await asker.ask(question, for: call, expecting: ConsentAnswered.self))
    }
}
