import AppStoreSimulation
import Crypto
import JOSE
import JSON
import Runtime
import Synchronization
import TestSupport

/// Purchases and spends that flow over HTTP while things break.
///
/// Clients behave like apps on StoreKit: order, purchase with the order's token, submit, and submit again until the
/// answer says that it is delivered; only then the store is told. Each purchase is submitted one to five times besides,
/// shuffled among all others, over several connections. Now and then a client forgets everything and asks the store
/// what is unfinished. Servers ask for spends with a deadline, one to three times under one id, some larger than any
/// wallet.
final class ShopLoad: Sendable {
    /// How much flows.
    struct Pace: Sendable {
        /// Purchases a second, if the system keeps up.
        var purchases = 45.0
        /// Spends a second.
        var spends = 12.0
        /// Calls waiting at most: beyond it nobody buys.
        var waiting = 1_000
        /// Threads that make calls.
        var clients = 8
    }

    private let site: Site
    private let record: Record
    private let pace: Pace
    private let seed: UInt64
    private let run: String
    private let users: [String]
    private let tokens: [String]
    private let serverToken: String
    private let pool = JobPool()
    private let enough = StopSignal()
    private let over = StopSignal()
    private let orders = Mutex<[String: String]>([:])
    private let sources = Mutex<[NamedThread]>([])
    private let clients = Mutex<[NamedThread]>([])

    /// A few, so that purchases and spends of one wallet meet in one batch.
    private static let userCount = 40
    /// No wallet of a run holds so much.
    private static let tooMuch: Int64 = 1_000_000_000
    /// One in so many purchases is followed by a restart of its client.
    private static let restartEvery: UInt64 = 40

    private init(_ site: Site, _ record: Record, seed: UInt64, pace: Pace) throws {
        self.site = site
        self.record = record
        self.pace = pace
        self.seed = seed
        run = Hex.encode(try RandomBytes.generate(4))
        let run = run
        users = (0..<Self.userCount).map { "chaos-\(run)-\($0)" }
        tokens = try users.map { try site.login.token($0) }
        serverToken = try site.service.token("cloud-pc")
    }

    /// Starts all threads.
    static func start(_ site: Site, _ record: Record, seed: UInt64, pace: Pace = Pace()) throws -> ShopLoad {
        let load = try ShopLoad(site, record, seed: seed, pace: pace)
        let sources = [
            NamedThread.start(name: "buyer") { load.guarded { try load.buy(share: 0) } },
            NamedThread.start(name: "buyer") { load.guarded { try load.buy(share: 1) } },
            NamedThread.start(name: "server") { load.askForSpends() },
        ]
        let clients = (0..<pace.clients).map { index in
            NamedThread.start(name: "client-\(index)") { load.guarded { try load.call(index) } }
        }
        load.sources.withLock { $0 = sources }
        load.clients.withLock { $0 = clients }
        return load
    }

    /// Calls that wait or are being made.
    var waiting: Int { pool.count }

    /// Nobody buys or spends any more; what was begun goes on.
    func stopBuying() {
        enough.stop()
        for thread in sources.withLock({ $0 }) { thread.join() }
    }

    /// Hands in whatever the store knows as unfinished until there is nothing and every call is answered. Returns
    /// whether that was reached within `limit`. Only after ``stopBuying()``.
    func drain(within limit: Duration) throws -> Bool {
        let deadline = ContinuousClock.now + limit
        var random = SeededGenerator(seed: seed)
        let store = try RemoteStore(base: site.simulator)
        while ContinuousClock.now < deadline {
            guard pool.count == 0 else {
                _ = over.wait(for: .milliseconds(50))
                continue
            }
            var left = 0
            for index in users.indices { left += (try? resend(index, store, &random)) ?? 1 }
            if left == 0 {
                try askWhatIsFinished(store)
                return true
            }
        }
        return false
    }

    /// A store that was killed after it wrote that a purchase is finished, and before it said so, is asked.
    private func askWhatIsFinished(_ store: RemoteStore) throws {
        for (transactionID, purchase) in record.purchases where !purchase.isFinished && !purchase.answers.isEmpty {
            let stored = try store.transaction(transactionID, environment: purchase.environment)
            if stored.isFinished { record.finished(transactionID) }
        }
    }

    /// Ends all threads.
    func finish() {
        enough.stop()
        over.stop()
        for thread in sources.withLock({ $0 }) + clients.withLock({ $0 }) { thread.join() }
    }

    private func guarded(_ body: () throws -> Void) {
        do {
            try body()
        } catch {
            record.anomaly("a client cannot work: \(error)")
        }
    }

    // MARK: - Buying

    private func buy(share: Int) throws {
        var random = SeededGenerator(seed: seed &+ 1_000 &+ UInt64(share))
        var caller = try Caller(base: site.gateway, record: record)
        let store = try RemoteStore(base: site.simulator)
        var next = ContinuousClock.now
        while !enough.isStopped {
            let index = Int(random.next() % UInt64(users.count))
            if pool.count < pace.waiting { try buy(as: index, &caller, store, &random) }
            if random.next() % Self.restartEvery == 0 {
                pool.forget(user: users[index])
                record.restarted()
                _ = try? resend(index, store, &random)
            }
            // Two threads share the pace; whoever is late does not hurry.
            next = max(next + .seconds(2 / pace.purchases), .now - .seconds(1))
            _ = enough.wait(for: ContinuousClock.now.duration(to: next))
        }
    }

    private func buy(
        as index: Int, _ caller: inout Caller, _ store: RemoteStore, _ random: inout SeededGenerator
    ) throws {
        let goods = Goods.all[Int(random.next() % UInt64(Goods.all.count))]
        guard let order = order(goods, index, &caller) else { return }
        let request = PurchaseRequest(
            bundleID: site.bundleID, productID: goods.id, appleAccount: users[index], appAccountToken: order.token)
        // If the store's answer is lost it may have been paid: the store tells of it at the next restart.
        guard case .purchased(let purchase)? = try? store.purchase(request) else { return }
        orders.withLock { $0[purchase.transactionID] = order.number }
        record.paid(
            purchase.transactionID,
            Record.Purchase(user: users[index], environment: purchase.environment, product: goods))
        for _ in 0..<(random.next() % 5 + 1) { submit(purchase, index, order: order.number) }
    }

    private func order(_ goods: Goods, _ index: Int, _ caller: inout Caller) -> (number: String, token: String)? {
        while !enough.isStopped {
            switch caller.post("/api/iap/orders", ["appleProductId": .string(goods.id)], token: tokens[index]) {
            case .success(let body):
                guard let number = body["orderNo"]?.stringValue, let token = body["appAccountToken"]?.stringValue else {
                    record.anomaly("an order without number or token")
                    return nil
                }
                return (number, token)
            case .later(let pause): _ = enough.wait(for: pause)
            case .refused(let status, let code, _):
                record.anomaly("an order was refused: \(status) \(code)")
                return nil
            }
        }
        return nil
    }

    private func submit(_ purchase: SignedPurchase, _ index: Int, order: String?) {
        pool.add(
            .submit(
                user: users[index], transactionID: purchase.transactionID, evidence: purchase.signedTransactionInfo,
                order: order))
    }

    /// What a client does at its start: everything unfinished is handed in, half of it without its order. Returns how
    /// much that was.
    private func resend(_ index: Int, _ store: RemoteStore, _ random: inout SeededGenerator) throws -> Int {
        let unfinished = try store.unfinished(appleAccount: users[index], environment: "Production")
        for purchase in unfinished {
            // One whose answer was lost when it was bought is news.
            guard let goods = Self.goods(of: purchase) else {
                record.anomaly("the store tells of an unknown product in \(purchase.transactionID)")
                continue
            }
            record.paid(
                purchase.transactionID,
                Record.Purchase(user: users[index], environment: purchase.environment, product: goods))
            let order = orders.withLock { $0[purchase.transactionID] }
            submit(purchase, index, order: random.next() % 2 == 0 ? order : nil)
        }
        return unfinished.count
    }

    private static func goods(of purchase: SignedPurchase) -> Goods? {
        guard let parts = try? CompactJWS(Array(purchase.signedTransactionInfo.utf8)),
            let payload = try? parts.decodePayload(), let object = try? JSONReader.parseObject(payload)
        else { return nil }
        return Goods.all.first { $0.id == object["productId"]?.stringValue }
    }

    // MARK: - Spending

    private func askForSpends() {
        var random = SeededGenerator(seed: seed &+ 2_000)
        var number = 0
        while !enough.wait(for: .seconds(1 / pace.spends)) {
            guard pool.count < pace.waiting else { continue }
            number += 1
            let id = "spend-\(run)-\(number)"
            let isTooLarge = random.next() % 6 == 0
            let spend = Record.Spend(
                user: users[Int(random.next() % UInt64(users.count))],
                asset: random.next() % 2 == 0 ? "DANBING" : "TIME_MINUTES",
                amount: isTooLarge ? Self.tooMuch : Int64(random.next() % 40 + 1), copies: Int(random.next() % 3 + 1),
                isTooLarge: isTooLarge)
            record.asked(id, spend)
            // One in ten is late if anything is slow: refused then, for ever.
            let seconds: Int64 = random.next() % 10 == 0 ? 2 : 3_600
            let deadline = UTCText.format(WallClock.milliseconds() / 1_000 + seconds)
            for _ in 0..<spend.copies { pool.add(.spend(id: id, deadline: deadline)) }
        }
    }

    // MARK: - Calling

    private func call(_ index: Int) throws {
        var random = SeededGenerator(seed: seed &+ 3_000 &+ UInt64(index))
        var clerk = JobClerk(
            record: record, tokens: Dictionary(uniqueKeysWithValues: zip(users, tokens)), serverToken: serverToken,
            caller: try Caller(base: site.gateway, record: record), store: try RemoteStore(base: site.simulator))
        while !over.isStopped {
            guard let job = pool.take(using: &random) else {
                _ = over.wait(for: .milliseconds(10))
                continue
            }
            let pause = clerk.make(job)
            if let pause { pool.add(job, after: pause) }
            pool.done()
            // A client that is told to come back later does not hammer at the door with its other purchases either.
            if pause != nil { _ = over.wait(for: .milliseconds(100)) }
        }
    }
}
