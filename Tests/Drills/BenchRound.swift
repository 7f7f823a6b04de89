import HTTPClient
import Runtime
import Synchronization

/// One measurement: clients, each a thread with its own connection, take purchases from one list until time is up.
final class BenchRound: Sendable {
    /// What came of it.
    struct Result: Sendable {
        var latencies: [Duration] = []
        var errors = 0
        var firstError: String?
        var elapsed: Duration = .zero
    }

    /// The next purchase nobody has used: rounds of one run never share a transaction.
    private static let offset = Mutex(0)

    private let url: String
    private let purchases: [(body: [UInt8], token: String)]
    private let next = Atomic<Int>(0)
    private let result = Mutex(Result())

    /// Signs everything beforehand: the load generator shares the processor with what it measures.
    init(_ target: BenchTarget, count: Int) throws {
        url = target.url
        let first = Self.offset.withLock { offset in
            defer { offset += count }
            return offset
        }
        purchases = try (first..<first + count).map { try target.purchase($0) }
    }

    func run(clients: Int, within limit: Duration) throws -> Result {
        let began = ContinuousClock.now
        let threads = (0..<clients).map { number in
            NamedThread.start(name: "client-\(number)") { self.buy(until: began + limit) }
        }
        for thread in threads { thread.join() }
        let elapsed = began.duration(to: .now)
        return result.withLock { result in
            result.elapsed = elapsed
            return result
        }
    }

    private func buy(until deadline: ContinuousClock.Instant) {
        var mine = Result()
        do {
            var client = try HTTPClient.open(HTTPClient.Configuration())
            while ContinuousClock.now < deadline {
                let index = next.wrappingAdd(1, ordering: .relaxed).oldValue
                guard index < purchases.count else { break }
                let began = ContinuousClock.now
                let response = try client.send(
                    HTTPClientRequest(
                        "POST", url,
                        headers: [
                            ("Authorization", "Bearer \(purchases[index].token)"), ("Content-Type", "application/json"),
                        ], body: purchases[index].body))
                let text = String(decoding: response.body, as: UTF8.self)
                if response.status == 200, text.contains("\"GRANTED\"") {
                    mine.latencies.append(began.duration(to: .now))
                } else {
                    mine.errors += 1
                    mine.firstError = mine.firstError ?? "\(response.status) \(text.prefix(200))"
                }
            }
        } catch {
            mine.errors += 1
            mine.firstError = "\(error)"
        }
        result.withLock { [mine] total in
            total.latencies += mine.latencies
            total.errors += mine.errors
            total.firstError = total.firstError ?? mine.firstError
        }
    }
}
