import JSON
import Messages

/// The answers of the `points` surface.
enum PaymentJSON {
    /// `POST …/transactions/verify`: the body of the 200, or why there is none.
    static func verified(
        _ answer: PurchaseAnswered, productCode: String, of app: ServedApp
    ) throws(Problem) -> JSONObject {
        switch answer.status {
        case .granted, .alreadyGranted: break
        case .refused, .held, .pending: throw problem(answer)
        }
        guard let transaction = answer.transactionID else { throw incomplete }
        let isNew = answer.status == .granted
        var body: JSONObject = [
            "status": isNew ? "granted" : "already_granted", "productCode": .string(productCode),
            "transactionId": .string(transaction.rawValue),
            "creditsAdded": .integer(isNew ? points(answer.amounts, of: app) : 0),
            "newBalance": .integer(points(answer.balances, of: app)),
            "ledgerEventId": .string(eventID(transaction)),
        ]
        AssetJSON.add(revokedShare: answer.revokedShare, to: &body)
        return body
    }

    /// `GET …/packages`: what is on sale to this user, in the catalogue's order. `used` are starter offers they have had.
    static func packages(
        _ answer: CatalogAnswered, _ token: String, without used: [String], of app: ServedApp
    ) -> JSONObject {
        let products = (answer.definition?.products ?? []).filter(\.isEnabled)
            .filter { product in product.starter.map { !used.contains($0.offer) } ?? true }
            .sorted { ($0.sort, $0.code) < ($1.sort, $1.code) }
        return [
            "appAccountToken": .string(token),
            "packages": .array(
                products.map { product in
                    [
                        "productCode": .string(product.code),
                        "appStoreProductId": .string(product.productID.rawValue),
                        "type": .string(product.starter == nil ? "regular" : "starter"),
                        "credits": .integer(points(product.amounts, of: app)), "sort": .integer(product.sort),
                    ]
                }),
        ]
    }

    /// `GET …/balance`. What was ever earned is what is there and what was spent; what a refund took was never earned.
    static func balance(_ answer: BalanceAnswered, of app: ServedApp) -> JSONObject {
        let balance = points(answer.balances, of: app)
        let spent = points(answer.spent ?? [], of: app)
        let (earned, overflow) = balance.addingReportingOverflow(spent)
        return [
            "balance": .integer(balance), "lifetimeEarned": .integer(overflow ? .max : earned),
            "lifetimeSpent": .integer(spent),
        ]
    }

    /// `GET …/transactions/{transactionId}`. Of two transactions that share an id by accident, Production's.
    static func transaction(_ answer: TransactionAnswered, of app: ServedApp) throws(Problem) -> JSONObject {
        guard let transaction = answer.transactions.min(by: { $0.environment < $1.environment }) else {
            throw Problem(.transactionNotFound)
        }
        let isGranted = transaction.grantedAt != nil
        var body: JSONObject = [
            "transactionId": .string(transaction.transactionID.rawValue), "status": .string(status(of: transaction)),
            "isCredited": .bool(isGranted),
            "environment": .string(transaction.environment.rawValue),
            "appStoreProductId": .string(transaction.productID.rawValue), "quantity": .integer(transaction.quantity),
            "credits": .integer(points(transaction.amounts, of: app)),
            "purchaseDate": .string(RFC3339.format(transaction.purchaseDate)),
        ]
        if let code = transaction.productCode { body.set("productCode", .string(code)) }
        if let reason = transaction.heldReason { body.set("heldReason", .string(reason.rawValue)) }
        AssetJSON.add(revokedShare: transaction.revokedShare, to: &body)
        if let granted = transaction.grantedAt {
            body.set("grantedAt", .string(RFC3339.format(granted)))
            body.set("ledgerEventId", .string(eventID(transaction.transactionID)))
        }
        if let owed = transaction.owed, points(owed, of: app) > 0 {
            body.set("overdueAmount", .integer(points(owed, of: app)))
        }
        return body
    }

    /// Document B's life of a transaction.
    private static func status(of transaction: TransactionSummary) -> String {
        let isWholly = transaction.revokedShare == VerifiedTransaction.wholeShare
        guard transaction.grantedAt != nil else { return isWholly ? "revoked" : "verified" }
        guard isWholly else { return "granted" }
        return (transaction.owed ?? []).contains { $0.amount > 0 } ? "refunded_insufficient" : "refunded"
    }

    /// The name that document B gives the ledger's line of a purchase.
    private static func eventID(_ transaction: TransactionID) -> String { "payment.apple_iap:\(transaction)" }

    /// The amount in the one asset of such an app.
    private static func points(_ amounts: [AssetAmount], of app: ServedApp) -> Int64 {
        guard let asset = app.assets.first?.id else { return 0 }
        return amounts.first { $0.asset == asset }?.amount ?? 0
    }

    private static func problem(_ answer: PurchaseAnswered) -> Problem {
        var problem = Problem(
            answer.code.map(ProblemCode.init) ?? (answer.status == .pending ? .purchasePending : .underReview))
        // Not decided: whatever else the answer says, the transaction must be sent again.
        problem.mayFinish = answer.status == .pending ? false : answer.mayFinish
        let tells: Set<ProblemCode> = [.appleTransactionVerifyFailed, .purchasePending, .underReview]
        if tells.contains(problem.code), let reason = answer.reason {
            // About somebody else's purchase nothing finer is said.
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
