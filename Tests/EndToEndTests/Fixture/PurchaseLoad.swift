import AppStoreSimulation
import Runtime
import Synchronization
import TestSupport

/// Purchases that flow while things break: each is sent one to three times and, as a real app would, again and again
/// until the backend says that it is delivered.
final class PurchaseLoad: Sendable {
    /// A purchase that was paid, and every success its submissions were answered with.
    struct Bought: Sendable {
        let user: String
        let transactionID: String
        let amount: Int64
        var answers: [String]
    }

    private struct State {
        var started = 0
        var bought: [Bought] = []
        var problems: [String] = []
    }

    private let deployment: Deployment
    private let seed: UInt64
    private let minimum: Int
    private let state = Mutex(State())
    private let enough = StopSignal()
    private let threads = Mutex<[NamedThread]>([])

    /// A client that gets no delivery for this long gives up, and the test fails.
    private static let patience = Duration.seconds(90)
    /// Between two purchases of one client, so that the flow lasts as long as what happens meanwhile.
    private static let pause = Duration.milliseconds(30)

    private init(_ deployment: Deployment, minimum: Int, seed: UInt64) {
        self.deployment = deployment
        self.minimum = minimum
        self.seed = seed
    }

    /// Starts `clients` clients.
    static func start(on deployment: Deployment, clients: Int = 6, minimum: Int, seed: UInt64) -> PurchaseLoad {
        let load = PurchaseLoad(deployment, minimum: minimum, seed: seed)
        let threads = (0..<clients).map { index in
            NamedThread.start(name: "buyer-\(index)") { load.buy(as: index) }
        }
        load.threads.withLock { $0 = threads }
        return load
    }

    /// Purchases delivered so far.
    var delivered: Int { state.withLock { $0.bought.count } }

    /// Waits until `count` more purchases are delivered.
    func waitForMore(_ count: Int) throws {
        let goal = delivered + count
        try eventually(within: .seconds(60), "\(goal) purchases are delivered") {
            let problems = state.withLock { $0.problems }
            guard problems.isEmpty else { throw Places.Missing(description: problems.joined(separator: "; ")) }
            return delivered >= goal
        }
    }

    /// Ends the flow once the minimum is reached and everything bought is delivered.
    func finish() throws -> [Bought] {
        enough.stop()
        for thread in threads.withLock({ $0 }) { thread.join() }
        return try state.withLock { state in
            guard state.problems.isEmpty else {
                throw Places.Missing(description: state.problems.joined(separator: "; "))
            }
            return state.bought
        }
    }

    private func buy(as index: Int) {
        var random = SeededGenerator(seed: seed &+ UInt64(index))
        let products: [(id: String, amount: Int64)] = [("pyy_danbing_60", 60), ("pyy_danbing_300", 300)]
        while !enough.isStopped || state.withLock({ $0.started }) < minimum {
            let number = state.withLock { state in
                state.started += 1
                return state.started
            }
            // A few users, so that purchases of one wallet meet in one batch.
            let user = "load-\(number % 25)"
            let product = products[Int(random.next() % 2)]
            do {
                let bought = try buy(
                    product.id, product.amount, user: user, repeats: Int(random.next() % 3) + 1)
                state.withLock { $0.bought.append(bought) }
            } catch {
                state.withLock { $0.problems.append("purchase \(number) of \(user): \(error)") }
                return
            }
            _ = enough.wait(for: Self.pause)
        }
    }

    private func buy(_ product: String, _ amount: Int64, user: String, repeats: Int) throws -> Bought {
        var backend = try deployment.backend(user)
        let order = try untilAnswered("order") { () throws(BackendError) in try backend.order(product) }
        let purchase = try deployment.purchase(product, account: user, token: order.appAccountToken)
        var bought = Bought(user: user, transactionID: purchase.transactionID, amount: amount, answers: [])
        for _ in 0..<repeats {
            let delivery = try untilAnswered("delivery") { () throws(BackendError) in
                try backend.verify(purchase.signedTransactionInfo, orderNumber: order.number)
            }
            bought.answers.append(delivery.status)
        }
        try deployment.store().finish(purchase.transactionID, environment: purchase.environment)
        return bought
    }

    /// Asks again after what may pass by itself; everything else is a failure.
    private func untilAnswered<Value>(_ what: String, _ call: () throws(BackendError) -> Value) throws -> Value {
        let deadline = ContinuousClock.now + Self.patience
        let never = StopSignal()
        while true {
            do throws(BackendError) {
                return try call()
            } catch {
                guard error.isRetryable, ContinuousClock.now < deadline else {
                    throw Places.Missing(description: "no \(what): \(error)")
                }
                _ = never.wait(for: .milliseconds(100))
            }
        }
    }
}
