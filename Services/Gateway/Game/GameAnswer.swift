import GameProtocol
import JSON
import Messages

/// What the services said, in the game's words; JSON and protobuf are made of it.
enum GameAnswer {
    /// A delivery, or why there is none.
    static func verified(
        _ answer: PurchaseAnswered, of product: ProductID, for app: ServedApp
    ) throws(Problem) -> VerifyAnswer {
        switch answer.status {
        case .granted, .alreadyGranted: break
        case .refused, .held, .pending: throw problem(answer)
        }
        let isNew = answer.status == .granted
        let asset = asset(of: answer.amounts, app)
        return VerifyAnswer(
            code: GameCode.delivered, message: isNew ? "granted" : "already granted",
            rewardID: Int32(clamping: answer.rewardID ?? 0), productID: product.rawValue,
            finish: true, amount: isNew ? amount(of: asset, in: answer.amounts) : 0,
            balance: amount(of: asset, in: answer.balances),
            transactionIDs: (answer.transactionIDs ?? [answer.transactionID].compactMap { $0 }).map(\.rawValue))
    }

    /// A page of the history.
    static func history(_ answer: HistoryAnswered, for app: ServedApp) -> HistoryAnswer {
        HistoryAnswer(
            records: answer.purchases.map { purchase in
                let created = purchase.place.microseconds / 1_000_000
                // Apple's statement always has a date; without one the record must still not look as if never refunded.
                let refunded = purchase.revokedAt.map { $0 / 1_000 } ?? created
                return HistoryRecord(
                    transactionID: purchase.place.transactionID.rawValue, productID: purchase.productID.rawValue,
                    amount: Int32(
                        clamping: amount(of: asset(of: purchase.amounts, app), in: purchase.amounts)),
                    createdAt: created, refundedAt: purchase.revokedShare > 0 ? max(1, refunded) : 0,
                    refundedShare: Int32(clamping: purchase.revokedShare),
                    isSandbox: purchase.place.environment == .sandbox)
            }, nextCursor: answer.nextBefore.map { HistoryPage.cursor(before: $0) } ?? "")
    }

    /// The one asset that the game's messages have room for: the app's first of those delivered; of a card, which delivers
    /// none, the app's first.
    private static func asset(of amounts: [AssetAmount], _ app: ServedApp) -> AssetID? {
        app.assets.first { asset in amounts.contains { $0.asset == asset.id } }?.id ?? amounts.first?.asset
            ?? app.assets.first?.id
    }

    private static func amount(of asset: AssetID?, in amounts: [AssetAmount]) -> Int64 {
        amounts.first { $0.asset == asset }?.amount ?? 0
    }

    private static func problem(_ answer: PurchaseAnswered) -> Problem {
        var problem = Problem(
            answer.code.map(ProblemCode.init) ?? (answer.status == .pending ? .purchasePending : .underReview))
        // Not decided: whatever else the answer says, the purchase must be sent again.
        problem.mayFinish = answer.status == .pending ? false : answer.mayFinish
        if tells.contains(problem.code), let reason = answer.reason {
            // About somebody else's purchase nothing finer is said.
            problem.members.set("reason", .string(reason))
        }
        return problem
    }

    private static let tells: Set<ProblemCode> = [.appleTransactionVerifyFailed, .purchasePending, .underReview]
}
