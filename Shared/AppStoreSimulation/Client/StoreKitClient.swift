import JSON

/// Plays the iOS app: order, purchase with the order's token, verify, and finish **only** when the backend has delivered.
///
/// It never adds anything to a balance: what it shows is what the backend said last. Unfinished purchases are kept in a
/// file and sent again by ``resendUnfinished()`` after a restart. Blocking, for one thread.
public final class StoreKitClient {
    /// Whose app, and where everything is.
    public struct Settings: Sendable {
        /// The backend, such as `http://127.0.0.1:8080`.
        public var backend: String
        /// The user's login token.
        public var loginToken: String
        /// The app.
        public var bundleID: String
        /// The Apple account of the device.
        public var appleAccount: String
        /// `Production` or `Sandbox`.
        public var environment: String
        /// The file of orders and unfinished purchases.
        public var file: String
        /// How often one purchase is sent before it is left for the next start.
        public var maximumAttempts = 5
        /// A `Retry-After` longer than this is left for the next start, too.
        public var longestWait = Duration.seconds(10)
        /// How Apple tells the app's server of what is bought here.
        public var notification = DeliveryPlan()

        /// Settings with the usual patience.
        public init(
            backend: String, loginToken: String, bundleID: String, appleAccount: String,
            environment: String = "Production", file: String
        ) {
            self.backend = backend
            self.loginToken = loginToken
            self.bundleID = bundleID
            self.appleAccount = appleAccount
            self.environment = environment
            self.file = file
        }
    }

    /// What the person does with the sheet StoreKit shows.
    public enum Choice: Sendable {
        /// Pays.
        case pays
        /// Closes it: `.userCancelled`.
        case cancels
        /// Is a child: `.pending` until a parent approves.
        case asksParent
    }

    /// How a purchase went, as far as this client is concerned.
    public enum Outcome: Sendable, Equatable {
        /// Delivered and finished.
        case delivered(BackendClient.Delivery)
        /// Not delivered, but finished because the backend said so (refunded, for example).
        case finished(BackendProblem)
        /// Not finished; it is sent again later.
        case kept(BackendError)
        /// The person closed the sheet.
        case cancelled
        /// Waits for approval under this id of the store.
        case pending(id: String)
    }

    /// The wallet as the backend said last; nil before it said anything.
    public private(set) var shownBalance: [String: Int64]?
    /// Purchases kept for later.
    public var keptCount: Int { kept.purchases.count }

    private let settings: Settings
    private let store: any StoreAccess
    private let wait: (Duration) -> Void
    private var backend: BackendClient
    private var kept: KeptPurchases

    /// Starts the app: reads its file, calls nobody.
    ///
    /// - Parameter wait: how to let time pass before another attempt.
    public init(
        _ settings: Settings, store: any StoreAccess, wait: @escaping (Duration) -> Void = WallClock.sleep
    ) throws {
        self.settings = settings
        self.store = store
        self.wait = wait
        backend = try BackendClient(base: settings.backend, token: settings.loginToken)
        kept = try KeptPurchases(path: settings.file)
    }

    /// What is on sale.
    public func products() throws(BackendError) -> [BackendClient.Product] { try backend.products() }

    /// Asks the backend for the balance and shows it.
    @discardableResult
    public func refreshBalance() throws(BackendError) -> [String: Int64] {
        let balance = try backend.balance()
        shownBalance = balance
        return balance
    }

    /// The whole of a tap on "buy": order, purchase, verify, finish.
    ///
    /// Throws if there is no order or the store failed: then nothing was bought, or the store knows it as unfinished.
    public func buy(_ appleProductID: String, quantity: Int64 = 1, _ choice: Choice = .pays) throws -> Outcome {
        let order = try backend.order(appleProductID)
        // Before paying: after a crash this is how the transaction finds its order.
        try kept.add(order)
        guard choice != .cancels else { return .cancelled }
        let request = PurchaseRequest(
            bundleID: settings.bundleID, productID: order.appleProductID, appleAccount: settings.appleAccount,
            appAccountToken: order.appAccountToken, quantity: quantity, environment: settings.environment,
            needsApproval: choice == .asksParent, notification: settings.notification)
        switch try store.purchase(request) {
        case .pending(let id):
            return .pending(id: id)
        case .purchased(let purchase):
            return try deliver(purchase, orderNumber: order.number)
        }
    }

    /// What the app does at every start and in `Transaction.updates`: sends what is unfinished, here or at the store.
    @discardableResult
    public func resendUnfinished() throws -> [Outcome] {
        for purchase in try store.unfinished(
            appleAccount: settings.appleAccount, environment: settings.environment)
        {
            let token = Self.appAccountToken(in: purchase.signedTransactionInfo)
            try kept.add(Self.kept(purchase, orderNumber: kept.orderNumber(forToken: token)))
        }
        return try kept.purchases.map { try send($0) }
    }

    /// Keeps a purchase and submits it; also for purchases made elsewhere (another device of the same account).
    public func deliver(_ purchase: SignedPurchase, orderNumber: String?) throws -> Outcome {
        let entry = Self.kept(purchase, orderNumber: orderNumber)
        try kept.add(entry)
        return try send(entry)
    }

    // MARK: - Submitting

    private func send(_ purchase: KeptPurchases.Purchase) throws -> Outcome {
        let delivery: BackendClient.Delivery
        do throws(BackendError) {
            delivery = try verify(purchase)
        } catch {
            guard case .problem(let problem) = error else { return .kept(error) }
            if problem.mayFinish {
                try finish(purchase)
                return .finished(problem)
            }
            if Self.orderMismatches.contains(problem.code) { try kept.forgetOrder(of: purchase) }
            return .kept(error)
        }
        shownBalance = delivery.balance
        // Anything else than these two words is no delivery, whatever the HTTP status says.
        guard Self.deliveredStates.contains(delivery.status) else {
            return .kept(.unreadable(JSONError(.wrongType, path: "status")))
        }
        try finish(purchase)
        return .delivered(delivery)
    }

    private static let deliveredStates: Set<String> = ["GRANTED", "ALREADY_GRANTED"]

    /// The order named is not this transaction's: next time the backend finds the owner by the token.
    private static let orderMismatches: Set<String> = [
        "ORDER_NOT_FOUND", "ORDER_USER_MISMATCH", "ORDER_PRODUCT_MISMATCH", "APP_ACCOUNT_TOKEN_MISMATCH",
    ]

    private func verify(_ purchase: KeptPurchases.Purchase) throws(BackendError) -> BackendClient.Delivery {
        var attempt = 1
        while true {
            do throws(BackendError) {
                return try backend.verify(purchase.signedTransactionInfo, orderNumber: purchase.orderNumber)
            } catch {
                let pause = Self.pause(after: error, attempt: attempt)
                guard error.isRetryable, attempt < settings.maximumAttempts, pause <= settings.longestWait else {
                    throw error
                }
                wait(pause)
                attempt += 1
            }
        }
    }

    /// What the backend asks for, else 0.2 s doubled each time.
    private static func pause(after error: BackendError, attempt: Int) -> Duration {
        if case .problem(let problem) = error, let seconds = problem.retryAfterSeconds { return .seconds(seconds) }
        return .milliseconds(200) * (1 << min(attempt - 1, 6))
    }

    /// Finished at the store first: if the app dies in between, the file's entry is answered ALREADY_GRANTED next time.
    private func finish(_ purchase: KeptPurchases.Purchase) throws(StoreError) {
        try store.finish(purchase.transactionID, environment: purchase.environment)
        try kept.remove(purchase)
    }

    private static func kept(_ purchase: SignedPurchase, orderNumber: String?) -> KeptPurchases.Purchase {
        KeptPurchases.Purchase(
            transactionID: purchase.transactionID, environment: purchase.environment, orderNumber: orderNumber,
            signedTransactionInfo: purchase.signedTransactionInfo)
    }

    /// The token inside, read without checking the signature: it only helps to find the order.
    private static func appAccountToken(in signedTransactionInfo: String) -> String? {
        SignedText.payload(of: signedTransactionInfo)?["appAccountToken"]?.stringValue
    }
}
