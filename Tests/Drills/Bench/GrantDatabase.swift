import AppStoreSimulation
import Glibc
import Granting
import Messages
import Pipeline
import Postgres
import Service

/// A database with Granting's schema alone, orders in it, and purchases on these orders that nobody has granted yet.
struct GrantDatabase: ~Copyable {
    /// What a year leaves behind, for one customer of ours.
    static let manyRows = 100_000
    private static let app = AppID("bench")
    private static let product = ProductID("coins_60")
    private static let users = 2_000

    private let name: String
    private var connection: Connection
    private var purchases: LaneTransaction
    private var wallet: LaneTransaction
    private var notifications: LaneTransaction
    private var ordered: [(order: OrderNumber, token: String, user: UserID)] = []
    private var granted = 0
    private var refunded = 0

    private init(name: String, connection: consuming Connection) {
        self.name = name
        self.connection = connection
        purchases = LaneTransaction(service: "granting", handler: GrantingService.purchases())
        wallet = LaneTransaction(service: "granting", handler: GrantingService.wallet())
        notifications = LaneTransaction(service: "granting", handler: GrantingService.notifications())
    }

    /// A new database called `name` with `rows` purchases of others in it.
    static func make(_ name: String, rows: Int) throws -> GrantDatabase {
        guard let conninfo = getenv("PURSER_DATABASE_SUPERUSER").map({ String(cString: $0) }) else {
            throw DrillSettings.Problem(description: "PURSER_DATABASE_SUPERUSER is not set")
        }
        var cluster = try Connection.open(conninfo, applicationName: "bench")
        try cluster.executeScript("DROP DATABASE IF EXISTS \(name) WITH (FORCE)")
        try cluster.executeScript("CREATE DATABASE \(name) TEMPLATE template0")
        cluster.close()
        var connection = try Connection.open(
            "\(conninfo) dbname=\(name)", applicationName: "bench",
            parameters: LaneTransaction.parameters.merging(["statement_timeout": "60s"]) { $1 })
        try connection.executeScript("CREATE SCHEMA granting")
        _ = try Migrator(schema: "granting", migrations: GrantingService.migrations).run(on: &connection)
        var database = GrantDatabase(name: name, connection: connection)
        try database.importCatalog()
        if rows > 0 {
            // Not by the lane's session, which may join by an index only: that would compare every row with every other.
            var filler = try Connection.open(
                "\(conninfo) dbname=\(name)", applicationName: "bench", parameters: ["statement_timeout": "60s"])
            try filler.executeScript(GrantFilling.script(rows: rows))
            filler.close()
        }
        // What filling left to write must not be written while something is measured.
        try database.connection.executeScript("CHECKPOINT")
        return database
    }

    /// Takes the database away again.
    consuming func drop() throws {
        connection.close()
        guard let conninfo = getenv("PURSER_DATABASE_SUPERUSER").map({ String(cString: $0) }) else { return }
        var cluster = try Connection.open(conninfo, applicationName: "bench")
        try cluster.executeScript("DROP DATABASE \(name) WITH (FORCE)")
    }

    private mutating func importCatalog() throws {
        let asset = AssetID("COINS")
        let definition = CatalogDefinition(
            assets: [CatalogAsset(asset: asset, jsonName: "coins", insufficientCode: .balanceNotEnough)],
            products: [
                CatalogProduct(
                    code: "COINS_60", productID: Self.product, productType: "Consumable",
                    amounts: [AssetAmount(asset: asset, amount: 60)], isEnabled: true, sort: 1)
            ],
            policies: CatalogPolicies(
                sandboxAudience: .nobody, reviewers: [], testers: [], requiresAppAccountToken: false,
                orderExpiryHours: 24))
        var commands = LaneTransaction(service: "granting", handler: GrantingService.commands())
        let request = CatalogImportRequested(app: Self.app, actor: "bench", expectedVersion: 0, definition: definition)
        _ = try commands.commit([try Self.message(request)], on: &connection)
    }

    /// Makes `count` orders, each with its token, as clients do before they buy.
    mutating func order(_ count: Int) throws {
        var left = count
        while left > 0 {
            let batch = (0..<min(left, 256)).map { _ in
                let user = UserID("user-\(ordered.count % Self.users)")
                let order = OrderNumber("\(name)-\(ordered.count)")
                ordered.append((order, UUIDText.random(), user))
                return OrderRequested(
                    app: Self.app, userID: user, productID: Self.product, orderNumber: order,
                    appAccountToken: ordered[ordered.count - 1].token)
            }
            let outcomes = try wallet.commit(batch.map { try Self.message($0) }, on: &connection)
            for outcome in outcomes { try Self.expectFact(outcome, .orderCreated) }
            left -= batch.count
        }
    }

    /// Purchases a second when `batches` transactions of `size` are granted. Every one must be granted.
    mutating func rate(batches: Int, of size: Int) throws -> Double {
        let prepared = try (0..<batches).map { _ in try (0..<size).map { _ in try nextPurchase() } }
        let began = ContinuousClock.now
        var outcomes: [Outcome] = []
        for batch in prepared { outcomes += try purchases.commit(batch, on: &connection) }
        let elapsed = began.duration(to: .now)
        for outcome in outcomes { try Self.expectFact(outcome, .purchaseGranted) }
        return Double(batches * size) / elapsed.inSeconds
    }

    /// Refunds a second when `batches` transactions of `size` notifications take purchases back that ``rate(batches:of:)``
    /// granted. Every one must take something back.
    mutating func refundRate(batches: Int, of size: Int) throws -> Double {
        let prepared = try (0..<batches).map { _ in try (0..<size).map { _ in try nextRefund() } }
        let began = ContinuousClock.now
        var outcomes: [Outcome] = []
        for batch in prepared { outcomes += try notifications.commit(batch, on: &connection) }
        let elapsed = began.duration(to: .now)
        for outcome in outcomes { try Self.expectFact(outcome, .purchaseClawedBack) }
        return Double(batches * size) / elapsed.inSeconds
    }

    private mutating func nextRefund() throws -> Incoming {
        guard refunded < granted else {
            throw DrillSettings.Problem(description: "there are fewer purchases than refunds")
        }
        refunded += 1
        var transaction = Self.transaction(refunded)
        transaction.appAccountToken = ordered[refunded - 1].token
        transaction.signedDate += 86_400_000
        transaction.revocationDate = transaction.signedDate
        transaction.revocationReason = 0
        transaction.revocationType = "REFUND_FULL"
        transaction.revocationPercentage = VerifiedTransaction.wholeShare
        transaction.payloadHash = String(repeating: "cd", count: 32)
        var notification = NotificationVerified(
            app: Self.app, environment: .production, notificationUUID: UUIDText.random(), notificationType: "REFUND",
            signedDate: transaction.signedDate)
        notification.transaction = transaction
        return try Self.message(notification, type: notification.messageType)
    }

    private mutating func nextPurchase() throws -> Incoming {
        let (order, token, user) = ordered[granted]
        granted += 1
        var transaction = Self.transaction(granted)
        transaction.appAccountToken = token
        return try Self.message(
            PurchaseVerified(app: Self.app, userID: user, orderNumber: order, transaction: transaction))
    }

    private static func transaction(_ number: Int) -> VerifiedTransaction {
        let id = TransactionID("\(3_000_000_000 + number)")
        var transaction = VerifiedTransaction(
            environment: .production, transactionID: id, originalTransactionID: id, bundleID: "com.example.bench",
            productID: Self.product, productType: "Consumable", ownership: "PURCHASED", quantity: 1,
            purchaseDate: 1_780_000_000_000, signedDate: 1_780_000_000_000,
            payloadHash: String(repeating: "ab", count: 32))
        transaction.price = 990
        transaction.currency = "USD"
        return transaction
    }

    private static func message(_ body: some Message, type routingKey: MessageType? = nil) throws -> Incoming {
        func type<M: Message>(of _: M) -> MessageType { M.type }
        let header = MessageHeader(
            id: MessageID(UUIDText.random()), type: routingKey ?? type(of: body), version: 1, occurredAt: 0,
            correlationID: UUIDText.random(), app: app, replyTo: "bench")
        return Incoming(header: header, body: try MessageCoding.encode(body), isRedelivered: false)
    }

    private static func expectFact(_ outcome: Outcome, _ type: MessageType) throws {
        guard case .done(let facts, _) = outcome, facts.first?.type == type else {
            throw DrillSettings.Problem(description: "expected \(type.rawValue), got \(outcome)")
        }
    }
}
