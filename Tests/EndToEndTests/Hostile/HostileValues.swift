import AMQP
import Messages
import Pipeline

/// Well-formed messages with values that no service of ours would send, queue by queue.
struct HostileValues {
    /// A message, and the beginning of the reason it must be parked with; nil if it has to be decided all the same.
    struct Example {
        let name: String
        let reason: String?
        let message: OutgoingMessage
    }

    /// Texts that end statements, quote, match anything, break lines, drive terminals, or only look alike (S40, S44).
    static let texts = [
        "'; DROP TABLE granting.ledger; --", "\\'; SELECT pg_sleep(10); --", "%", "_", "\\", "\"", "$1", "{}", "${x}",
        "NULL", "a\r\nSet-Cookie: b", "\u{1B}]0;owned\u{7}", "é", "e\u{301}", "\u{202E}txt.exe", "😀",
        "<script>alert(1)</script>",
        "../../etc/passwd", String(repeating: "'", count: 64),
    ]
    static let nul = "a\u{0}b"
    static let megabyte = String(repeating: "x", count: 1 << 20)
    /// PostgreSQL cannot store it.
    static let notStorable = "postgres.invalid_parameter"
    /// A value too long for its index (program_limit_exceeded).
    static let tooLong = "postgres.sqlstate.54000"
    /// A constraint.
    static let violation = "postgres.sqlstate.23514"

    let insider: Insider

    func example(_ name: String, _ reason: String?, _ message: some Message) throws -> Example {
        Example(name: name, reason: reason, message: try insider.message(message))
    }

    /// A spend that nobody has the balance for, unless told otherwise.
    static func spend(
        app: String = "cloudpc", user: String = "hostile-spender", asset: String = "DANBING", amount: Int64 = 1,
        source: String = UUIDText.random(), deadline: Int64 = .max
    ) -> SpendRequested {
        SpendRequested(
            app: AppID(app), userID: UserID(user), asset: AssetID(asset), amount: amount, sourceID: source,
            deadline: deadline)
    }

    static func order(
        user: String = "hostile-orderer", product: String = "pyy_danbing_60", number: String = UUIDText.random(),
        token: String = UUIDText.random()
    ) -> OrderRequested {
        OrderRequested(
            app: AppID("cloudpc"), userID: UserID(user), productID: ProductID(product),
            orderNumber: OrderNumber(number),
            appAccountToken: token)
    }

    func wallet() throws -> [Example] {
        let texts: [Example] = try Self.texts.flatMap { text in
            [
                try example("spend of \(text)", nil, Self.spend(user: text, asset: text, source: text)),
                try example("spend in app \(text)", nil, Self.spend(app: text)),
                try example(
                    "order of \(text)", nil, Self.order(user: text, product: text, number: text + UUIDText.random())),
                try example("order with token \(text)", "order.identity_invalid", Self.order(token: text)),
            ]
        }
        let rest: [Example] = [
            try example("amount 0", "spend.amount_invalid", Self.spend(amount: 0)),
            try example("the smallest amount", "spend.amount_invalid", Self.spend(amount: .min)),
            try example("the largest amount", nil, Self.spend(amount: .max)),
            try example("the smallest deadline", nil, Self.spend(deadline: .min)),
            try example("no source", "spend.source_id_invalid", Self.spend(source: "")),
            try example("a source of a megabyte", "spend.source_id_invalid", Self.spend(source: Self.megabyte)),
            try example("a source with NUL", Self.notStorable, Self.spend(source: Self.nul)),
            try example("a user with NUL", Self.notStorable, Self.spend(user: Self.nul)),
            try example("no user", Self.violation, Self.spend(user: "")),
            try example("a user of a megabyte", Self.tooLong, Self.spend(user: Self.megabyte)),
            try example("no app", Self.violation, Self.spend(app: "")),
            try example("an app of a megabyte", Self.tooLong, Self.spend(app: Self.megabyte)),
            try example("an asset with NUL", Self.notStorable, Self.spend(asset: Self.nul)),
            try example("no order number", "order.identity_invalid", Self.order(number: "")),
            try example("an order number of a megabyte", "order.identity_invalid", Self.order(number: Self.megabyte)),
            try example("a product with NUL", nil, Self.order(product: Self.nul)),
        ]
        return texts + rest
    }

    static func purchase(
        _ id: String, user: String? = "hostile-buyer", order: String? = nil, product: String = "pyy_danbing_60",
        quantity: Int64 = 1, purchaseDate: Int64 = 1_790_000_000_000,
        _ change: (inout VerifiedTransaction) -> Void = { _ in }
    ) -> PurchaseVerified {
        var transaction = VerifiedTransaction(
            environment: .production, transactionID: TransactionID(id), originalTransactionID: TransactionID(id),
            bundleID: Deployment.bundleID, productID: ProductID(product), productType: "Consumable",
            ownership: "PURCHASED", quantity: quantity, purchaseDate: purchaseDate, signedDate: purchaseDate,
            payloadHash: String(repeating: "0", count: 64))
        change(&transaction)
        return PurchaseVerified(
            app: AppID("cloudpc"), userID: user.map { UserID($0) }, orderNumber: order.map { OrderNumber($0) },
            transaction: transaction)
    }

    func purchases() throws -> [Example] {
        var number = 0
        func id() -> String {
            number += 1
            return "7700000000\(number)"
        }
        let texts: [Example] = try Self.texts.flatMap { text in
            [
                try example("transaction \(text)", nil, Self.purchase("hostile " + text)),
                try example("by \(text)", nil, Self.purchase(id(), user: text, order: text, product: text)),
                try example(
                    "of token \(text)", nil,
                    Self.purchase(id()) {
                        $0.appAccountToken = text
                        $0.productType = text
                        $0.currency = text
                        $0.storefront = text
                        $0.bundleID = text
                        $0.payloadHash = text
                    }),
            ]
        }
        let rest: [Example] = [
            try example("quantity 0", nil, Self.purchase(id(), quantity: 0)),
            try example("the smallest quantity", nil, Self.purchase(id(), quantity: .min)),
            try example("the largest quantity", nil, Self.purchase(id(), quantity: .max)),
            try example("the smallest date", nil, Self.purchase(id(), purchaseDate: .min)),
            try example("the largest date", nil, Self.purchase(id(), purchaseDate: .max)),
            try example("a revoked share of everything and more", nil, Self.revoked(id(), share: .max)),
            try example("a revoked share below nothing", nil, Self.revoked(id(), share: .min)),
            try example("a transaction with NUL", Self.notStorable, Self.purchase(Self.nul)),
            try example("a transaction of a megabyte", Self.tooLong, Self.purchase(Self.megabyte)),
            try example("no transaction", Self.violation, Self.purchase("")),
            try example("a user with NUL", Self.notStorable, Self.purchase(id(), user: Self.nul)),
            try example("a user of a megabyte", Self.tooLong, Self.purchase(id(), user: Self.megabyte)),
            try example("a product of a megabyte", nil, Self.purchase(id(), product: Self.megabyte)),
            try example("an order with NUL", Self.notStorable, Self.purchase(id(), order: Self.nul)),
        ]
        return texts + rest
    }

    private static func revoked(_ id: String, share: Int64) -> PurchaseVerified {
        purchase(id) {
            $0.revocationDate = .max
            $0.revocationPercentage = share
            $0.revocationReason = .min
        }
    }

    /// `genuine` is a signed transaction that nobody has submitted.
    func submissions(_ genuine: [String]) throws -> [Example] {
        var signed = genuine.makeIterator()
        func submission(
            app: String = "cloudpc", user: String? = "hostile-sender", order: String? = nil, _ text: String? = nil
        ) -> PurchaseSubmitted {
            PurchaseSubmitted(
                app: AppID(app), userID: user.map { UserID($0) }, orderNumber: order.map { OrderNumber($0) },
                signedTransaction: text ?? signed.next() ?? "")
        }
        let texts = try Self.texts.map { try example("the text \($0)", nil, submission(user: $0, order: $0, $0)) }
        let rest: [Example] = [
            try example("an empty text", nil, submission("")),
            try example("dots", nil, submission(String(repeating: ".", count: 1 << 20))),
            try example("a megabyte", nil, submission(Self.megabyte)),
            try example("a text with NUL", nil, submission(Self.nul)),
            try example("an app with NUL", Self.notStorable, submission(app: Self.nul)),
            try example("an app of a megabyte", nil, submission(app: Self.megabyte, "x")),
            try example("genuine, by a user with NUL", nil, submission(user: Self.nul)),
            try example("genuine, for an order with NUL", nil, submission(order: Self.nul)),
            try example("genuine, by a user of a megabyte", nil, submission(user: Self.megabyte)),
            try example("genuine, for an order of a megabyte", nil, submission(order: Self.megabyte)),
        ]
        return texts + rest
    }

    /// `genuine` are signed notifications that nobody has sent.
    func notifications() throws -> [Example] {
        func received(_ text: String, app: String = "cloudpc") -> NotificationReceived {
            NotificationReceived(app: AppID(app), signedPayload: text)
        }
        let texts = try (Self.texts + [Self.nul, Self.megabyte, "", String(repeating: ".", count: 1 << 20)]).map {
            try example("the text \($0.prefix(30))", nil, received($0))
        }
        let apps = try (Self.texts + [Self.nul, Self.megabyte, ""]).map { text in
            try example("of app \(text.prefix(30))", nil, received("x", app: text))
        }
        let genuine = try (Self.texts + [Self.nul]).map { text in
            try example("genuine, to \(text)", nil, received(try insider.deployment.notification("TEST"), app: text))
        }
        return texts + apps + genuine
    }

    func redrives() throws -> [Example] {
        func redrive(_ uuids: [String] = [], types: [String] = [], actor: String = "hostile", after: Int64? = nil)
            -> NotificationRedriveRequested
        {
            var request = NotificationRedriveRequested(
                notificationUUIDs: uuids, environment: nil, notificationTypes: types, actor: actor, isDryRun: false)
            request.after = after
            return request
        }
        let unreadable = "message.body_unreadable"
        let texts = try Self.texts.flatMap { text in
            [
                try example("redrive of \(text)", nil, redrive([text])),
                try example("redrive of type \(text)", nil, redrive(types: [text])),
                try example("redrive by \(text)", nil, redrive(types: ["x"], actor: text)),
            ]
        }
        let rest: [Example] = [
            try example("redrive of NUL", unreadable, redrive([Self.nul])),
            try example("redrive of a type with NUL", unreadable, redrive(types: [Self.nul])),
            try example("redrive by NUL", unreadable, redrive(actor: Self.nul)),
            try example("redrive of a megabyte", unreadable, redrive([Self.megabyte])),
            try example("redrive of too many", unreadable, redrive(Array(repeating: "x", count: 501))),
            try example("redrive after the last", nil, redrive(types: ["TEST"], after: .max)),
            try example("redrive after the smallest", nil, redrive(types: ["x"], after: .min)),
        ]
        return texts + rest
    }

    func commands() throws -> [Example] {
        func redrive(_ id: String) -> PurchaseRedriveRequested {
            PurchaseRedriveRequested(transactionID: TransactionID(id), environment: .production)
        }
        let texts = try Self.texts.map { try example("redrive of \($0)", nil, redrive($0)) }
        let rest: [Example] = [
            try example("redrive of NUL", Self.notStorable, redrive(Self.nul)),
            try example("redrive of a megabyte", nil, redrive(Self.megabyte)),
            try example("redrive of nothing", nil, redrive("")),
        ]
        let imports = try (Self.texts + [Self.megabyte, ""]).map { text in
            try example(
                "import by \(text.prefix(30))", nil,
                CatalogImportRequested(
                    app: AppID("hostile " + text.prefix(100)), actor: text, expectedVersion: .min,
                    definition: CatalogDefinition(
                        assets: [], products: [],
                        policies: CatalogPolicies(
                            sandboxAudience: .nobody, reviewers: [UserID(text)], testers: [],
                            requiresAppAccountToken: false, orderExpiryHours: .max))))
        }
        return try texts + rest + imports + userCommands()
    }
}
