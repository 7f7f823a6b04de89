import AppStoreSimulation
import JOSE
import JSON
import Runtime
import TestSupport

/// Apple, while things break: refunds shares of purchases, more of them, takes refunds back, and tells each of it, some
/// twice, some under another UUID, some late, some out of order. For ``ShopLoad``'s purchases that were delivered.
final class RefundLoad: Sendable {
    private let site: Site
    private let record: Record
    private let seed: UInt64
    private let enough = StopSignal()
    private let threads: [NamedThread]

    /// Refunds a second: one in ten purchases changes its mind.
    private static let pace = 5.0
    /// Shares that leave whole units of every product of the drills: what is rounded is the books' own affair.
    private static let shares: [Int64] = [0, 10, 40, 50, 100]
    /// Apple's own retries, accelerated, take seven seconds at most from one to the next.
    private static let pause = Duration.milliseconds(300)

    private init(_ site: Site, _ record: Record, seed: UInt64) {
        self.site = site
        self.record = record
        self.seed = seed
        let enough = enough
        threads = [
            NamedThread.start(name: "apple") {
                do {
                    try Self.refund(site, record, seed: seed, until: enough)
                } catch {
                    record.anomaly("the store's refunds cannot begin: \(error)")
                }
            }
        ]
    }

    /// Starts a thread.
    static func start(_ site: Site, _ record: Record, seed: UInt64) -> RefundLoad {
        RefundLoad(site, record, seed: seed)
    }

    /// Nothing more is refunded.
    func stop() {
        enough.stop()
        for thread in threads { thread.join() }
    }

    private static func refund(_ site: Site, _ record: Record, seed: UInt64, until enough: StopSignal) throws {
        var random = SeededGenerator(seed: seed &+ 4_000)
        let store = try RemoteStore(base: site.simulator)
        while !enough.wait(for: .seconds(1 / pace)) {
            let delivered = record.purchases.filter { !$0.value.answers.isEmpty }.keys.sorted()
            guard !delivered.isEmpty else { continue }
            let id = delivered[Int(random.next() % UInt64(delivered.count))]
            let share = shares[Int(random.next() % UInt64(shares.count))]
            let plan = DeliveryPlan(
                duplicates: Int64(random.next() % 3), retold: random.next() % 5 == 0 ? 1 : 0,
                delay: random.next() % 4 == 0 ? Int64(random.next() % 2_000) : 0, isOutOfOrder: random.next() % 6 == 0)
            record.refunding(id, percentage: share)
            // A store that was killed may have done it: what it says in the end counts.
            _ = try? store.refund(id, environment: "Production", percentage: share, notification: plan)
        }
    }

    /// Waits until everything was told, telling anew what Apple gave up on; learns what is refunded in the end. Returns
    /// what cannot be told. Only after ``stop()``, when nothing breaks any more.
    func settle(within limit: Duration) throws -> [String] {
        let deadline = ContinuousClock.now + limit
        let store = try RemoteStore(base: site.simulator)
        let never = StopSignal()
        var lost: Set<String> = []
        while ContinuousClock.now < deadline {
            let told = try store.notifications()
            let open = told.filter { $0["finished"] != true }
            lost = Self.untold(told)
            if open.isEmpty, lost.isEmpty { break }
            // What was never told is what a look into the history would bring: the newest statement, once more.
            if open.isEmpty {
                for id in lost {
                    let share = try Self.share(of: try store.transaction(id, environment: "Production"))
                    _ = try store.refund(id, environment: "Production", percentage: share)
                }
            }
            _ = never.wait(for: Self.pause)
        }
        for id in record.refunded {
            record.settled(id, percentage: try Self.share(of: try store.transaction(id, environment: "Production")))
        }
        return lost.sorted()
    }

    /// Transactions whose newest statement was not delivered.
    private static func untold(_ notifications: [JSONObject]) -> Set<String> {
        var newest: [String: JSONObject] = [:]
        for notification in notifications {
            guard let id = notification["transactionId"]?.stringValue,
                notification["notificationType"] != "ONE_TIME_CHARGE"
            else { continue }
            let (date, known) = (notification["signedDate"]?.intValue ?? 0, newest[id]?["signedDate"]?.intValue ?? 0)
            if date >= known { newest[id] = notification }
        }
        return Set(newest.filter { $0.value["delivered"] != true && $0.value["finished"] == true }.keys)
    }

    private static func share(of purchase: SignedPurchase) throws -> Int64 {
        let parts = try CompactJWS(Array(purchase.signedTransactionInfo.utf8))
        let payload = try JSONReader.parseObject(try parts.decodePayload())
        return (payload["revocationPercentage"]?.intValue ?? 0) / 1_000
    }
}
