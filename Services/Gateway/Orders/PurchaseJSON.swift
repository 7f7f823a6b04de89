import JSON
import Messages

/// The answer to both verify calls.
enum PurchaseJSON {
    /// The body of the 200, or why there is none.
    static func body(_ answer: PurchaseAnswered, app: ServedApp) throws(Problem) -> JSONObject {
        switch answer.status {
        case .granted: return try granted(answer, app)
        case .alreadyGranted: return try alreadyGranted(answer, app)
        case .refused, .held: throw problem(answer)
        case .pending:
            var problem = Problem(answer.code.map(ProblemCode.init) ?? .purchasePending)
            // Not decided: whatever else the answer says, the transaction must be sent again.
            problem.mayFinish = false
            throw problem
        }
    }

    private static func granted(_ answer: PurchaseAnswered, _ app: ServedApp) throws(Problem) -> JSONObject {
        guard let transaction = answer.transactionID, let product = answer.productID else { throw incomplete }
        var body: JSONObject = [
            "status": "GRANTED", "transactionId": .string(transaction.rawValue),
            "appleProductId": .string(product.rawValue),
        ]
        AssetJSON.add(answer.amounts, to: &body)
        AssetJSON.add(revokedShare: answer.revokedShare, to: &body)
        body.set("balance", .object(AssetJSON.balances(answer.balances, of: app)))
        return body
    }

    private static func alreadyGranted(_ answer: PurchaseAnswered, _ app: ServedApp) throws(Problem) -> JSONObject {
        guard let transaction = answer.transactionID else { throw incomplete }
        var body: JSONObject = ["status": "ALREADY_GRANTED", "transactionId": .string(transaction.rawValue)]
        AssetJSON.add(revokedShare: answer.revokedShare, to: &body)
        body.set("balance", .object(AssetJSON.balances(answer.balances, of: app)))
        return body
    }

    private static func problem(_ answer: PurchaseAnswered) -> Problem {
        var problem = Problem(answer.code.map(ProblemCode.init) ?? .underReview)
        problem.mayFinish = answer.mayFinish
        if problem.code == .appleTransactionVerifyFailed, let reason = answer.reason {
            // Helps an app team that sends the wrong thing; about somebody else's purchase nothing finer is said.
            problem.members.set("reason", .string(reason))
        }
        return problem
    }

    /// An answer without what it must have: not shown as a success, sent again it may be answered well.
    private static var incomplete: Problem {
        var problem = Problem(.purchasePending)
        problem.mayFinish = false
        return problem
    }
}
