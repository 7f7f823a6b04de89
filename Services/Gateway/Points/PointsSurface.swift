import HTTPServer
import JSON
import Messages
import Pipeline

/// The HTTP calls of the `points` surface: packages of points, one balance, verification of signed transactions.
///
/// `docs/protocols/payments/apple-iap-protocol.md` describes each. Every user id comes from the token, never from a body.
struct PointsSurface: Surface {
    private let asker: any Asker
    private let desk: PurchaseDesk

    /// The calls of this surface.
    static let packagesRoute = "/api/v1/points/packages"
    static let balanceRoute = "/api/v1/points/balance"
    static let tokenRoute = "/api/v1/points/app-account-token"
    static let verifyRoute = "/api/v1/payments/apple/transactions/verify"
    static let transactionRoute = "/api/v1/payments/apple/transactions/{transactionId}"

    /// The surface.
    init(asker: any Asker, security: SecurityLog) {
        self.asker = asker
        desk = PurchaseDesk(asker: asker, security: security)
    }

    static var description: [UInt8] { PackageResources.points_json }

    static func bodyLimit(path: String) -> Int? {
        path.hasSuffix(verifyRoute) ? PaymentBody.longestBody : nil
    }

    /// All calls.
    var endpoints: [(method: String, endpoint: Endpoint)] {
        [
            ("GET", query(Self.packagesRoute, packages)),
            ("GET", query(Self.balanceRoute, balance)),
            ("GET", query(Self.tokenRoute, token)),
            ("GET", query(Self.transactionRoute, transaction)),
            (
                "POST",
                Endpoint(
                    route: Self.verifyRoute, token: .login, bodyLimit: PaymentBody.longestBody, subject: .purchase,
                    answer: verify)
            ),
        ]
    }

    /// The problems of purchases, as document B calls them.
    func translated(_ problem: Problem) -> Problem {
        var problem = problem
        problem.code = PaymentProblem.code(for: problem)
        return problem
    }

    private func query(
        _ route: String, _ answer: @escaping @Sendable (Call) async throws(Problem) -> JSONObject?
    ) -> Endpoint {
        Endpoint(route: route, token: .login, bodyLimit: nil, subject: .other, answer: answer)
    }

    @Sendable private func verify(_ call: Call) async throws(Problem) -> JSONObject? {
        let body = try PaymentBody(call.body)
        let question = PurchaseSubmitted(
            app: call.app.id, userID: call.userID, orderNumber: nil, signedTransaction: body.signedTransaction,
            expectation: body.expectation, identities: call.identities)
        let answer = try await desk.submit(question, for: call)
        return try PaymentJSON.verified(answer, productCode: body.productCode, of: call.app)
    }

    /// What is on sale, and the token to buy it with: stored before it is told.
    @Sendable private func packages(_ call: Call) async throws(Problem) -> JSONObject? {
        let issued = try await issue(call)
        let question = CatalogRequested(app: call.app.id)
        let catalog = try await asker.ask(question, for: call, expecting: CatalogAnswered.self)
        return PaymentJSON.packages(catalog, issued.token, without: issued.answer.usedOffers, of: call.app)
    }

    @Sendable private func token(_ call: Call) async throws(Problem) -> JSONObject? {
        ["appAccountToken": .string(try await issue(call).token)]
    }

    @Sendable private func balance(_ call: Call) async throws(Problem) -> JSONObject? {
        let question = BalanceRequested(app: call.app.id, userID: call.userID)
        return PaymentJSON.balance(
            try await asker.ask(question, for: call, expecting: BalanceAnswered.self), of: call.app)
    }

    @Sendable private func transaction(_ call: Call) async throws(Problem) -> JSONObject? {
        let id = try call.transactionID()
        let question = TransactionRequested(app: call.app.id, userID: call.userID, transactionID: id)
        return try PaymentJSON.transaction(
            try await asker.ask(question, for: call, expecting: TransactionAnswered.self), of: call.app)
    }

    /// The user's token. The one drawn here is stored if the user has none yet; the first one stored is the user's for
    /// ever.
    private func issue(_ call: Call) async throws(Problem) -> (token: String, answer: TokenAnswered) {
        let question = TokenRequested(
            app: call.app.id, userID: call.userID, appAccountToken: UUIDText.random(),
            identities: call.identities)
        let answer = try await asker.ask(question, for: call, expecting: TokenAnswered.self)
        guard let token = answer.appAccountToken else {
            throw Problem(answer.code.map(ProblemCode.init) ?? .serviceBusy)
        }
        return (token, answer)
    }
}
