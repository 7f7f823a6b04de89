import HTTPServer
import Messages
import Pipeline

@testable import Gateway

/// Answers of the services, and requests, for the `game` surface.
enum GameSamples {
    static let product = "com.ninjafall.gem_pack_1"
    static let verifyBody = #"{"receipt":"MIIT","productId":"com.ninjafall.gem_pack_1"}"#

    static func diamonds(_ amount: Int64) -> [AssetAmount] { [AssetAmount(asset: AssetID("DIAMOND"), amount: amount)] }

    static func answered(
        _ status: PurchaseAnswered.Status, _ code: AnswerCode? = nil, reason: String? = nil, mayFinish: Bool = true
    ) -> PurchaseAnswered {
        var answer = PurchaseAnswered(
            status: status, code: code, reason: reason, mayFinish: mayFinish, transactionID: TransactionID("1"),
            productID: ProductID(product), amounts: diamonds(120), balances: diamonds(180))
        answer.transactionIDs = [TransactionID("1"), TransactionID("2")]
        answer.rewardID = 2_001
        return answer
    }

    static let place = HistoryPlace(
        microseconds: 1_780_000_000_123_456, environment: .sandbox, transactionID: TransactionID("504319184420155588"))

    static let page = HistoryAnswered(
        purchases: [
            DeliveredPurchase(
                place: place, productID: ProductID(product), quantity: 2, amounts: diamonds(120),
                purchaseDate: 1_779_999_999_000, revokedShare: 50_000, revokedAt: 1_780_000_100_999),
            DeliveredPurchase(
                place: HistoryPlace(
                    microseconds: 1_770_000_000_000_000, environment: .production, transactionID: TransactionID("7")),
                productID: ProductID("com.ninjafall.monthly_card"), quantity: 1, amounts: [],
                purchaseDate: 1_770_000_000_000, revokedShare: 0, revokedAt: nil),
        ], nextBefore: place)

    static let card: EntitlementState = {
        var state = EntitlementState(
            name: "monthly_card", environment: .production, isActive: true, status: .active,
            productID: ProductID("com.ninjafall.monthly_card"))
        state.until = 1_780_000_000_000
        return state
    }()

    /// An answer to every question of the surface.
    static let everything: ScriptedAsker.Script = { question, _ in
        switch question {
        case is PurchaseSubmitted: answered(.granted)
        case is HistoryRequested: page
        case is EntitlementsRequested: EntitlementsAnswered(entitlements: [card])
        default: RequestParked(reason: "unexpected")
        }
    }

    static func send(
        _ door: TestDoor, _ method: String, _ path: String, _ body: String? = nil,
        query: [(name: String, value: String)] = []
    ) async throws -> HTTPResponse {
        try await door.send(
            method, path, body: body, token: try TestTokens.make("game"), host: "game.example", query: query)
    }
}
