import AMQP
import Crypto
import JSON
import Runtime

/// Queues purchases while nobody works, then lets the services work them off; beside it the steady rate, by the same way
/// into the system.
///
/// Messages go straight to the broker as the gateway's user would send them, answers come back to a queue of the
/// drill's: HTTP and the load generator take no part in what is compared.
final class BacklogRun {
    private let site: Site
    private let count: Int
    private let gateway: AMQPEndpoint
    private let record = Record()
    private let findings = Findings()
    private let never = StopSignal()

    /// Purchases under way at most while the steady rate is measured: every lane has a full batch in hand and one
    /// waiting, and nothing piles up.
    private static let underWay = 256
    /// As many as are measured for the steady rate; the first tenth fills caches.
    private static let steadyCount = 6_000
    /// The drain must reach this share of the steady rate.
    static let leastRatio = 0.80
    /// Messages written before their confirms are waited for.
    private static let round = 100
    private static let patience = Duration.seconds(180)

    init(_ settings: DrillSettings, count: Int) throws {
        site = try Site(settings)
        gateway = try AMQPEndpoint(url: try settings.value("GATEWAY_BROKER_URL"))
        self.count = count
    }

    /// Exit code: 0 everything held, 1 something did not.
    func run() throws -> Int32 {
        let answers = try Answers.start(gateway, name: "backlog-" + Hex.encode(try RandomBytes.generate(8)))
        defer { answers.finish() }
        let purchases = try QueuedPurchases(site, replyTo: answers.queue)
        print("steady: \(Self.steadyCount) purchases, at most \(Self.underWay) under way")
        let steady = try steadyRate(purchases, answers)
        print("        \(Int(steady)) purchases/s")
        let workers = site.stores
        for worker in workers.reversed() { try site.run("service", "stop", worker) }
        print("queued: \(count) purchases while nobody works")
        let queueing = try fill(purchases)
        let depth = try QueueCensus.take(site).messages["verification.purchases"] ?? 0
        findings.check("BACKLOG", "all of them wait", depth == count ? [] : ["\(depth) of \(count) wait"])
        let began = ContinuousClock.now
        let before = answers.count
        for worker in workers { try site.run("service", "start", worker) }
        try waitFor(before + count, answers)
        let (drain, whole) = rates(answers.times.dropFirst(before), since: began)
        let ratio = steady > 0 ? drain / steady : 0
        findings.check(
            "BACKLOG", "it is worked off at \(Self.leastRatio) of the steady rate or more",
            ratio >= Self.leastRatio ? [] : ["at \(Decimal.text(ratio, digits: 2))"])
        try check(answers)
        print("\n| backlog | queued at | drained at | steady | ratio | all done after |\n|---|---|---|---|---|---|")
        print(
            "| \(count) | \(Int(queueing))/s | \(Int(drain))/s | \(Int(steady))/s | \(Decimal.text(ratio, digits: 2)) | "
                + "\(Decimal.text(whole, digits: 2)) s from the start of the services |\n")
        let report: JSONObject = [
            "count": .integer(Int64(count)), "queuedPerSecond": .integer(Int64(queueing)),
            "drainedPerSecond": .integer(Int64(drain)), "steadyPerSecond": .integer(Int64(steady)),
            "ratioPercent": .integer(Int64(ratio * 100)), "wholeMilliseconds": .integer(Int64(whole * 1_000)),
            "held": .bool(findings.all.isEmpty), "findings": findings.json,
        ]
        // Beside the state, as bench does.
        try SmallFile.write(JSONWriter.write(report), to: site.state + "/../backlog.json")
        guard findings.all.isEmpty else {
            print("\(findings.all.count) promises are broken; logs: \(site.state)/logs")
            return 1
        }
        print("all \(findings.checked) promises hold.")
        return 0
    }

    // MARK: - Steady

    /// Purchases a second while at most so many are under way that nothing piles up.
    private func steadyRate(_ purchases: QueuedPurchases, _ answers: Answers) throws -> Double {
        var publisher = try Publisher.open(gateway, connectionName: "purser-drills steady")
        defer { publisher.close() }
        // Signed beforehand: that is no part of the path.
        let messages = try (0..<Self.steadyCount).map { try purchases.message($0) }
        for number in 0..<Self.steadyCount { record.paid(purchases.transactionID(number), purchases.purchase(number)) }
        var sent = 0
        while sent < Self.steadyCount {
            let room = min(Self.underWay - (sent - answers.count), Self.round, Self.steadyCount - sent)
            guard room > 0 else {
                _ = never.wait(for: .microseconds(500))
                if let failure = answers.failure { throw Site.Failure(description: failure) }
                continue
            }
            try publish(messages[sent..<sent + room], by: &publisher)
            sent += room
        }
        try waitFor(Self.steadyCount, answers)
        let times = answers.times.dropFirst(Self.steadyCount / 10)
        guard let first = times.first, let last = times.last else { return 0 }
        return Double(times.count - 1) / first.duration(to: last).seconds
    }

    // MARK: - Backlog

    /// Queues everything; messages a second.
    private func fill(_ purchases: QueuedPurchases) throws -> Double {
        var publisher = try Publisher.open(gateway, connectionName: "purser-drills backlog")
        defer { publisher.close() }
        let start = ContinuousClock.now
        var number = Self.steadyCount
        let end = Self.steadyCount + count
        while number < end {
            let next = min(number + Self.round, end)
            try publish((number..<next).map { try purchases.message($0) }[...], by: &publisher)
            for number in number..<next { record.paid(purchases.transactionID(number), purchases.purchase(number)) }
            number = next
        }
        return Double(count) / start.duration(to: .now).seconds
    }

    private func publish(_ messages: ArraySlice<OutgoingMessage>, by publisher: inout Publisher) throws {
        let outcomes = try publisher.publish(Array(messages), patience: .seconds(30))
        guard outcomes.allSatisfy({ $0 == .confirmed }) else {
            throw Site.Failure(
                description:
                    "the broker did not take a purchase: \(outcomes.first { $0 != .confirmed }.map { "\($0)" } ?? "")")
        }
    }

    private func waitFor(_ goal: Int, _ answers: Answers) throws {
        let deadline = ContinuousClock.now + Self.patience
        while answers.count + answers.wrong.count < goal, ContinuousClock.now < deadline {
            if let failure = answers.failure { throw Site.Failure(description: failure) }
            _ = never.wait(for: .milliseconds(20))
        }
        findings.check(
            "BACKLOG", "every purchase is answered as granted",
            answers.wrong
                + (answers.count >= goal ? [] : ["\(answers.count) of \(goal) after \(Int(Self.patience.seconds)) s"]))
    }

    /// Purchases a second from the first to the last answer, and the seconds from the start of the services to the last.
    private func rates(
        _ times: ArraySlice<ContinuousClock.Instant>, since began: ContinuousClock.Instant
    ) -> (drain: Double, whole: Double) {
        guard let first = times.first, let last = times.last, first < last else { return (0, 0) }
        return (Double(times.count - 1) / first.duration(to: last).seconds, began.duration(to: last).seconds)
    }

    // MARK: - Exactly once

    private func check(_ answers: Answers) throws {
        let start = ContinuousClock.now
        var books = try BooksCheck(site.auditor, findings)
        var census = try QueueCensus.take(site)
        // The last batch is retired after a second of idleness.
        while try !census.waiting.isEmpty || books.unannounced() > 0, start.duration(to: .now) < .seconds(30) {
            _ = never.wait(for: .milliseconds(500))
            census = try QueueCensus.take(site)
        }
        census = try QueueCensus.takeSettled(site)
        findings.check("INV7", "every queue is empty", census.waiting.map { "\($0.key) holds \($0.value)" })
        findings.check("INV7", "nothing is parked", try census.parkedMessages(site))
        let grants = try books.grants()
        ShopCheck(record: record, findings: findings).checkGrants(grants)
        try books.checkItself()
        _ = try FactsCheck(broker: site.broker, findings: findings).check(try books.facts(ofTypes: FactsCheck.types))
        try ProductAudit(site: site, findings: findings).check()
    }

}
