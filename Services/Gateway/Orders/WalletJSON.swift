import JSON
import Messages

/// The answers of the other calls.
enum WalletJSON {
    /// `GET /api/iap/products`: what is on sale, in the catalogue's order.
    static func products(_ answer: CatalogAnswered) -> JSONObject {
        let products = (answer.definition?.products ?? []).filter(\.isEnabled)
            .sorted { ($0.sort, $0.code) < ($1.sort, $1.code) }
        return [
            "products": .array(
                products.map { product in
                    var object: JSONObject = [
                        "productCode": .string(product.code), "appleProductId": .string(product.productID.rawValue),
                    ]
                    AssetJSON.add(product.amounts, to: &object)
                    object.set("enabled", .bool(product.isEnabled))
                    object.set("sort", .integer(product.sort))
                    return .object(object)
                })
        ]
    }

    /// `POST /api/iap/orders`.
    static func order(_ answer: OrderAnswered) throws(Problem) -> JSONObject {
        if let code = answer.code { throw Problem(ProblemCode(code)) }
        guard let number = answer.orderNumber, let product = answer.productID, let token = answer.appAccountToken else {
            throw Problem(.internalError)
        }
        return [
            "orderNo": .string(number.rawValue), "appleProductId": .string(product.rawValue),
            "appAccountToken": .string(token),
        ]
    }

    /// `POST /api/wallet/consume`. The balance is the one right after the decision.
    static func spend(_ answer: SpendAnswered, sourceID: String) throws(Problem) -> JSONObject {
        guard answer.code == nil, answer.outcome == .spent else {
            var problem = Problem(answer.code.map(ProblemCode.init) ?? code(of: answer.outcome))
            if let balance = answer.balanceAfter { problem.members.set("balanceAfter", .integer(balance)) }
            throw problem
        }
        guard let asset = answer.asset, let amount = answer.amount, let balance = answer.balanceAfter else {
            throw Problem(.internalError)
        }
        return [
            "status": "SPENT", "sourceId": .string(sourceID), "assetType": .string(asset.rawValue),
            "amount": .integer(amount), "balanceAfter": .integer(balance),
        ]
    }

    private static func code(of outcome: SpendOutcome?) -> ProblemCode {
        switch outcome {
        case .notEnough: .balanceNotEnough
        case .deadlinePassed: .spendDeadlinePassed
        case .unknownAsset: .unknownAsset
        case .restricted: .spendingRestricted
        case .spent, nil: .internalError
        }
    }

    /// `GET /api/wallet/ledger`.
    static func ledger(_ answer: LedgerAnswered) -> JSONObject {
        var body: JSONObject = [
            "entries": .array(
                answer.entries.map { entry in
                    var object: JSONObject = [
                        "assetType": .string(entry.asset.rawValue), "direction": .string(entry.direction.rawValue),
                        "amount": .integer(entry.amount), "balanceAfter": .integer(entry.balanceAfter),
                        "sourceType": .string(entry.sourceType), "sourceId": .string(entry.sourceID),
                    ]
                    if let remark = entry.remark { object.set("remark", .string(remark)) }
                    if let environment = entry.environment { object.set("environment", name(environment)) }
                    object.set("createdAt", .string(RFC3339.format(entry.createdAt)))
                    return .object(object)
                })
        ]
        if let next = answer.nextBefore { body.set("nextCursor", .string(LedgerPage.cursor(before: next))) }
        return body
    }

    /// `GET /api/iap/transactions/{transactionId}`. Of two transactions that share an id by accident, Production's.
    static func transaction(_ answer: TransactionAnswered) throws(Problem) -> JSONObject {
        guard let transaction = answer.transactions.min(by: { $0.environment < $1.environment }) else {
            throw Problem(.transactionNotFound)
        }
        var body: JSONObject = [
            "transactionId": .string(transaction.transactionID.rawValue), "status": .string(transaction.status),
            "environment": name(transaction.environment), "appleProductId": .string(transaction.productID.rawValue),
            "quantity": .integer(transaction.quantity),
        ]
        if let number = transaction.orderNumber { body.set("orderNo", .string(number.rawValue)) }
        if let reason = transaction.heldReason { body.set("heldReason", .string(reason.rawValue)) }
        AssetJSON.add(transaction.amounts, to: &body)
        AssetJSON.add(revokedShare: transaction.revokedShare, to: &body)
        body.set("purchaseDate", .string(RFC3339.format(transaction.purchaseDate)))
        if let granted = transaction.grantedAt { body.set("grantedAt", .string(RFC3339.format(granted))) }
        return body
    }

    /// Spelled as this surface's documents spell it: `PRODUCTION`, `SANDBOX`.
    private static func name(_ environment: StoreEnvironment) -> JSONValue {
        .string(environment.rawValue.uppercased())
    }
}
