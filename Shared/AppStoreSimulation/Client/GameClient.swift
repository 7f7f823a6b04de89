public import GameProtocol
import JSON

/// Plays the Unity game: purchase, keep, send the receipt over the WebSocket, and confirm **only** when the server says
/// that it may be finished. What is pending is kept in a file and sent again by ``checkPendingPurchases()``.
///
/// Blocking, for one thread.
public final class GameClient {
    /// Whose game, and where everything is.
    public struct Settings: Sendable {
        /// The gateway, such as `http://game.localhost:8080`.
        public var backend: String
        /// The player's login token.
        public var loginToken: String
        /// The game.
        public var bundleID: String
        /// The Apple account of the device.
        public var appleAccount: String
        /// `Production` or `Sandbox`.
        public var environment: String
        /// The file of pending purchases.
        public var file: String
        /// How often one purchase is sent by itself before the player is asked.
        public var attempts = 3
        /// Between two attempts, unless the server says how long.
        public var pause = Duration.seconds(5)

        /// Settings with document C's patience.
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

    /// A purchase that waits for the server.
    public struct Pending: Sendable, Equatable {
        /// Apple's id.
        public let transactionID: String
        /// What was bought.
        public let productID: String
        /// As Unity gives it.
        public let receipt: String
    }

    /// What the shop shows.
    public enum ShopState: Sendable, Equatable {
        /// The price is there.
        case readyToBuy
        /// Apple's sheet is open.
        case paying
        /// Paid; the server is asked.
        case verifying
        /// Delivered.
        case success
        /// Not delivered by this attempt; pending unless the server said that it is over.
        case failed
    }

    /// How a purchase went, as far as this client is concerned.
    public enum Outcome: Sendable, Equatable {
        /// Delivered and confirmed.
        case delivered(VerifyAnswer)
        /// Not delivered, but confirmed because the server said so (refunded, for example).
        case finished(VerifyAnswer)
        /// Not confirmed; sent again later.
        case kept(VerifyAnswer)
        /// No answer; sent again later.
        case unanswered(GameConnectionError)
    }

    /// What the shop went through since the last tap on "buy".
    public private(set) var states: [ShopState] = [.readyToBuy]
    /// The balance as the server said last.
    public private(set) var shownBalance: Int64?
    /// Purchases kept for later.
    public var pendingCount: Int { pending.purchases.count }

    private let settings: Settings
    private let store: any GameStore
    private let wait: (Duration) -> Void
    private var connection: GameConnection?
    private var pending: PendingPurchases

    /// Starts the game: reads its file, calls nobody.
    ///
    /// - Parameter wait: how to let time pass before another attempt.
    public init(
        _ settings: Settings, store: any GameStore, wait: @escaping (Duration) -> Void = WallClock.sleep
    ) throws {
        self.settings = settings
        self.store = store
        self.wait = wait
        pending = try PendingPurchases(path: settings.file)
    }

    /// The whole of a tap on "buy": pay, keep, verify, confirm.
    public func buy(_ productID: String, quantity: Int64 = 1) throws -> Outcome {
        try process(try pay(productID, quantity: quantity))
    }

    /// Up to the moment at which Unity calls `ProcessPurchase`: Apple has charged, and the purchase is kept.
    public func pay(_ productID: String, quantity: Int64 = 1) throws -> Pending {
        states = [.readyToBuy, .paying]
        let request = PurchaseRequest(
            bundleID: settings.bundleID, productID: productID, appleAccount: settings.appleAccount, quantity: quantity,
            environment: settings.environment, notification: .never)
        guard case .purchased(let purchase) = try store.purchase(request) else {
            throw StoreError.invalid(field: "needsApproval", problem: "was not asked for")
        }
        return try keep(purchase.transactionID, productID)
    }

    /// Sends a kept purchase, three times if need be, and confirms it if the server says so.
    public func process(_ purchase: Pending) throws -> Outcome {
        states.append(.verifying)
        var attempt = 1
        while true {
            let outcome = try send(purchase)
            let again: Duration? =
                switch outcome {
                case .delivered, .finished: nil
                case .kept(let answer): answer.retryAfter > 0 ? .seconds(Int64(answer.retryAfter)) : nil
                case .unanswered(let error): error.isRetryable ? settings.pause : nil
                }
            if let again, attempt < settings.attempts, again <= settings.pause {
                attempt += 1
                wait(again)
                continue
            }
            if case .delivered = outcome { states.append(.success) } else { states.append(.failed) }
            return outcome
        }
    }

    /// What the game does at every start, login and return to the foreground: whatever the store has not finished is
    /// processed again, and whatever is kept is sent again.
    @discardableResult
    public func checkPendingPurchases() throws -> [Outcome] {
        let unfinished = try store.unfinished(
            appleAccount: settings.appleAccount, environment: settings.environment)
        for purchase in unfinished {
            // The account may have unfinished purchases of other apps.
            guard let payload = SignedText.payload(of: purchase.signedTransactionInfo),
                payload["bundleId"]?.stringValue == settings.bundleID, let product = payload["productId"]?.stringValue
            else { continue }
            _ = try keep(purchase.transactionID, product)
        }
        return try pending.purchases.map {
            try process(
                Pending(transactionID: $0.transactionID, productID: $0.productID, receipt: $0.receipt))
        }
    }

    /// What was delivered to the player, all pages.
    public func history(pagesOf limit: Int32 = 0) throws(GameConnectionError) -> [HistoryRecord] {
        var records: [HistoryRecord] = []
        var cursor = ""
        repeat {
            let answer = try connected().ask(.history(HistoryQuestion(limit: limit, cursor: cursor)))
            guard case .records(let page) = answer, page.code == 0 else { throw .broken("the history has no page") }
            records += page.records
            cursor = page.nextCursor
        } while !cursor.isEmpty
        return records
    }

    private func keep(_ transactionID: String, _ productID: String) throws -> Pending {
        let known = pending.purchases.first { $0.transactionID == transactionID }?.receipt
        let receipt =
            try known
            ?? UnityReceipt.wrap(
                try store.receipt(
                    bundleID: settings.bundleID, appleAccount: settings.appleAccount,
                    environment: settings.environment), transactionID: transactionID)
        try pending.add(.init(transactionID: transactionID, productID: productID, receipt: receipt))
        return Pending(transactionID: transactionID, productID: productID, receipt: receipt)
    }

    private func send(_ purchase: Pending) throws -> Outcome {
        let answer: VerifyAnswer
        do throws(GameConnectionError) {
            let question = VerifyQuestion(receipt: purchase.receipt, productID: purchase.productID)
            guard case .verified(let told) = try connected().ask(.verify(question)) else {
                throw .broken("another answer than to verify")
            }
            answer = told
        } catch {
            connection = nil
            return .unanswered(error)
        }
        guard answer.finish else { return .kept(answer) }
        // Confirmed at the store first: if the game dies in between, what is kept is answered 0 next time.
        try store.finish(purchase.transactionID, environment: settings.environment)
        try pending.remove(purchase.transactionID)
        guard answer.code == 0 else { return .finished(answer) }
        shownBalance = answer.balance
        return .delivered(answer)
    }

    private func connected() throws(GameConnectionError) -> GameConnection {
        if let connection { return connection }
        let opened = try GameConnection(base: settings.backend, token: settings.loginToken)
        connection = opened
        return opened
    }
}
