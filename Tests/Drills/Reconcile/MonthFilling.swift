import AMQP
import AppStoreSimulation
import Crypto
import Messages
import Runtime

/// Hands a month's purchases in as their clients would, each signed, so that every row of every service is one that the
/// service has written itself. HTTP takes part in the orders only.
struct MonthFilling {
    let site: Site
    let plan: MonthPlan
    let clock: MonthClock
    let answers: Answers
    let patience: Patience
    private let gateway: AMQPEndpoint
    private let signer: TransactionSigner
    private let run: String
    private let firstID: UInt64

    /// Under way at most: enough for full batches, too few to look as if they were lost.
    private static let underWay = 1_000
    /// Messages written before their confirms are waited for.
    private static let round = 100

    init(
        _ site: Site, _ plan: MonthPlan, _ clock: MonthClock, gateway: AMQPEndpoint, answers: Answers,
        patience: Patience
    ) throws {
        self.site = site
        self.plan = plan
        self.clock = clock
        self.answers = answers
        self.patience = patience
        self.gateway = gateway
        signer = TransactionSigner(try SimulatedAuthority.load(from: site.state + "/simulator"))
        run = Hex.encode(try RandomBytes.generate(4))
        firstID = UInt64(WallClock.milliseconds()) * 1_000_000
    }

    /// The transaction id of purchase `number`.
    func transactionID(_ number: Int) -> String { String(firstID + UInt64(number)) }

    /// User `number`.
    func user(_ number: Int) -> String { "month-\(run)-\(number)" }

    /// Orders of the purchases that have one, in their order.
    func makeOrders() throws -> [BackendClient.Order] {
        var orders: [BackendClient.Order] = []
        var number = plan.ordered.lowerBound
        while number < plan.ordered.upperBound {
            let user = plan.purchase(number).user
            var client = try BackendClient(base: site.gateway, token: try site.login.token(self.user(user)))
            while number < plan.ordered.upperBound, plan.purchase(number).user == user {
                orders.append(try client.order(plan.purchase(number).product.id))
                number += 1
            }
        }
        return orders
    }

    /// Hands purchases in and waits until all are granted.
    func handIn(_ numbers: Range<Int>, orders: [BackendClient.Order]) throws {
        var publisher = try Publisher.open(gateway, connectionName: "purser-drills month")
        defer { publisher.close() }
        let before = answers.count
        var next = numbers.lowerBound
        while next < numbers.upperBound {
            let sent = next - numbers.lowerBound
            let end = min(next + Self.round, numbers.upperBound)
            let messages = try (next..<end).map { try message($0, orders) }
            try patience.wait(for: "answers") {
                try problem() ?? (sent - (answers.count - before) <= Self.underWay ? nil : "\(answers.count) came")
            }
            let outcomes = try publisher.publish(messages, patience: .seconds(30))
            guard outcomes.allSatisfy({ $0 == .confirmed }) else {
                throw Site.Failure(description: "the broker did not take a purchase")
            }
            next = end
        }
        try patience.wait(for: "the last answers") {
            let count = answers.count - before
            return try problem() ?? (count == numbers.count ? nil : "\(count) of \(numbers.count) are granted")
        }
    }

    /// An answer that no purchase may have ends the drill: nothing that follows would mean anything.
    private func problem() throws -> String? {
        if let failure = answers.failure ?? answers.wrong.first { throw Site.Failure(description: failure) }
        return nil
    }

    private func message(_ number: Int, _ orders: [BackendClient.Order]) throws -> OutgoingMessage {
        let purchase = plan.purchase(number)
        let order = plan.ordered.contains(number) ? orders[number - plan.ordered.lowerBound] : nil
        var transaction = SimulatedTransaction(
            transactionID: transactionID(number), bundleID: site.bundleID, productID: purchase.product.id,
            purchaseDate: clock.time(daysAgo: purchase.day, second: purchase.second),
            appAccountToken: order?.appAccountToken)
        transaction.storefront = MonthPlan.storefronts[purchase.storefront].0
        let signed = String(decoding: try signer.sign(transaction), as: UTF8.self)
        let body = PurchaseSubmitted(
            app: AppID("cloudpc"), userID: UserID(user(purchase.user)),
            orderNumber: order.map { OrderNumber($0.number) }, signedTransaction: signed)
        return try QueuedPurchases.message(body, of: transactionID(number), replyTo: answers.queue)
    }
}
