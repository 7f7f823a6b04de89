import GameProtocol
import HTTPServer
import JSON
import Messages

/// The calls of the `game` surface: a receipt is verified and delivered, what was delivered is told, and how long cards
/// last; in JSON, and as the game's own messages over a WebSocket.
///
/// `docs/protocols/game/game-protocol.md` describes each. Every user id comes from the token.
struct GameSurface: Surface {
    private let asker: any Asker
    private let desk: PurchaseDesk
    private let receipts: ReceiptShare

    /// The calls of this surface.
    static let verifyRoute = "/iap/verify"
    static let historyRoute = "/iap/history"
    static let entitlementsRoute = "/iap/entitlements"
    static let socketRoute = "/iap/ws"

    /// The surface; `receipts` is what all of them may take at a time.
    init(asker: any Asker, security: SecurityLog, receipts: ReceiptShare) {
        self.asker = asker
        desk = PurchaseDesk(asker: asker, security: security)
        self.receipts = receipts
    }

    static var description: [UInt8] { PackageResources.game_json }

    static func bodyLimit(path: String) -> Int? { isReceipt(path) ? ReceiptBody.longestBody : nil }

    /// Whether a path, whose app and prefix are not known yet, takes receipts.
    static func isReceipt(_ path: String) -> Bool { path.hasSuffix(verifyRoute) }

    /// All calls.
    var endpoints: [(method: String, endpoint: Endpoint)] {
        [
            (
                "POST",
                Endpoint(
                    route: Self.verifyRoute, token: .login, bodyLimit: ReceiptBody.longestBody, subject: .purchase
                ) { (call) throws(Problem) in
                    let body = try ReceiptBody(call.body)
                    return GameJSON.verified(try await verify(body, call))
                }
            ),
            (
                "GET",
                Endpoint(route: Self.historyRoute, token: .login, bodyLimit: nil, subject: .other) {
                    (call) throws(Problem) in
                    GameJSON.history(try await history(try HistoryPage(call), call))
                }
            ),
            (
                "GET",
                Endpoint(route: Self.entitlementsRoute, token: .login, bodyLimit: nil, subject: .other) {
                    (call) throws(Problem) in
                    let question = EntitlementsRequested(app: call.app.id, userID: call.userID)
                    return EntitlementJSON.body(
                        try await asker.ask(question, for: call, expecting: EntitlementsAnswered.self))
                }
            ),
            (
                "GET",
                Endpoint(
                    route: Self.socketRoute, token: .login, bodyLimit: nil, subject: .other,
                    answer: { _ in nil }, socket: GameMessages(surface: self).reader)
            ),
        ]
    }

    /// With the number that the game knows a problem by, and what a client that sends receipts can do about it.
    func translated(_ problem: Problem) -> Problem {
        var problem = problem
        problem.members.set("number", .integer(Int64(GameCode.number(of: problem))))
        if problem.code == .appleTransactionVerifyFailed, problem.detail == nil {
            problem.detail =
                "The receipt was not signed by Apple for this app, or has no purchase of this product. Send the "
                + "receipt as Unity IAP gives it."
        }
        return problem
    }

    /// Verifies and delivers every purchase of the product in the receipt.
    func verify(_ body: ReceiptBody, _ call: Call) async throws(Problem) -> VerifyAnswer {
        let size = body.receipt.utf8.count
        guard receipts.take(size) else {
            var problem = Problem(.serviceBusy)
            problem.members.set("reason", .string(Limit.receipts.rawValue))
            throw problem
        }
        defer { receipts.leave(size) }
        var question = PurchaseSubmitted(
            app: call.app.id, userID: call.userID, receipt: body.receipt, productID: body.productID)
        question.identities = call.identities
        let answer = try await desk.submit(question, for: call)
        return try GameAnswer.verified(answer, of: body.productID, for: call.app)
    }

    /// What was delivered to the user, newest first.
    func history(_ page: HistoryPage, _ call: Call) async throws(Problem) -> HistoryAnswer {
        let question = HistoryRequested(
            app: call.app.id, userID: call.userID, before: page.before, limit: page.limit)
        let answer = try await asker.ask(question, for: call, expecting: HistoryAnswered.self)
        return GameAnswer.history(answer, for: call.app)
    }
}
