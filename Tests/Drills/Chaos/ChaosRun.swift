import JSON
import Runtime

/// One run of chaos: plan, load, faults, and the check of everything.
final class ChaosRun {
    private let site: Site
    private let plan: ChaosPlan
    private let proxies: Proxies
    private let record = Record()
    private let findings = Findings()
    private let began = ContinuousClock.now
    /// How long it took until every purchase was delivered and every queue empty, after the last fault.
    private var settled = 0.0
    /// How often something was said again.
    private var repairs: Int64 = 0

    /// Within this time after the last fault everything must be done.
    private static let settling = Duration.seconds(60)
    /// A repair whose copy died before it was asked for is tried again after a minute.
    private static let secondAttempt = Duration.seconds(60)
    private static let starting = Duration.seconds(60)

    init(_ settings: DrillSettings, seed: UInt64, seconds: Int) throws {
        site = try Site(settings, withCopies: true)
        plan = ChaosPlan(
            seed: seed, seconds: seconds, cast: ChaosPlan.Cast(services: site.services, stores: site.stores))
        proxies = try Proxies(
            site, brokerPort: try settings.port("BROKER_PORT"), databasePort: try settings.port("DATABASE_PORT"))
    }

    /// What processes are started with besides their own settings: their proxies, and a reconciliation that does not wait
    /// for minutes, so that it repairs, needlessly too, while everything breaks.
    private var variables: [String: [String: String]] {
        var variables = proxies.variables
        for name in variables.keys where name.hasPrefix("reconciliation") {
            variables[name]?["PURSER_RECONCILIATION_INTERVAL_MS"] = "500"
            variables[name]?["PURSER_RECONCILIATION_DECISION_SECONDS"] = "1"
        }
        return variables
    }

    /// Exit code: 0 everything held, 1 something did not. Throws if it cannot be found out.
    func run() throws -> Int32 {
        print("seed \(plan.seed), \(plan.seconds) seconds; the plan:")
        print(plan.text)
        try SmallFile.write(Array(plan.text.utf8), to: site.state + "/plan.txt")
        // From now on each goes by its proxies.
        for service in site.services.reversed() { try site.run("service", "stop", service) }
        let supervisor = Supervisor.start(site, site.services + ["simulator"], variables: variables)
        defer { supervisor.finish() }
        let readiness = Readiness(site)
        guard readiness.wait(until: .now + Self.starting).isEmpty else {
            throw Site.Failure(description: "the services do not get ready behind their proxies")
        }
        let load = try ShopLoad.start(site, record, seed: plan.seed)
        defer { load.finish() }
        let refunds = RefundLoad.start(site, record, seed: plan.seed)
        defer { refunds.stop() }
        let nemesis = Nemesis(site, plan, supervisor, proxies, record, findings)
        do {
            print("what happens:")
            try nemesis.run()
        } catch {
            try? nemesis.liftAll()
            throw error
        }
        try nemesis.liftAll()
        print("\nno more faults; everything must be done within \(Int(Self.settling.seconds)) s")
        load.stopBuying()
        refunds.stop()
        try settle(load, refunds)
        load.finish()
        try check()
        for ending in supervisor.endings {
            findings.add("LIVE", "\(ending.name) ended by itself after \(Int(ending.at)) s")
        }
        findings.check("LIVE", "every start of a process succeeded", supervisor.problems)
        try SmallFile.write(JSONWriter.write(report(nemesis, supervisor)), to: site.state + "/report.json")
        return conclude(nemesis, supervisor)
    }

    /// Waits until nothing is left to do: INV2's and INV7's liveness.
    private func settle(_ load: ShopLoad, _ refunds: RefundLoad) throws {
        let start = ContinuousClock.now
        let isDrained = try load.drain(within: Self.settling)
        findings.check("LIVE", "everything Apple told was taken in", try refunds.settle(within: Self.settling))
        findings.check(
            "LIVE", "every purchase is delivered and finished, every spend answered",
            isDrained ? [] : ["\(load.waiting) calls wait after 60 s"])
        var books = try BooksCheck(site.auditor, findings)
        let never = StopSignal()
        var census = try QueueCensus.take(site)
        var unannounced = try books.unannounced()
        while !census.waiting.isEmpty || unannounced > 0, start.duration(to: .now) < Self.settling {
            _ = never.wait(for: .milliseconds(500))
            census = try QueueCensus.take(site)
            unannounced = try books.unannounced()
        }
        var reconciliation = try ReconciliationCheck(site.auditor, findings)
        while try !reconciliation.isDone(), start.duration(to: .now) < Self.settling + Self.secondAttempt {
            _ = never.wait(for: .milliseconds(500))
        }
        settled = start.duration(to: .now).seconds
        census = try QueueCensus.takeSettled(site)
        findings.check("INV7", "every queue is empty", census.waiting.map { "\($0.key) holds \($0.value)" })
        findings.check("INV8", "nothing waits to be announced", none: unannounced)
        findings.check("INV7", "nothing is parked", try census.parkedMessages(site))
    }

    private func check() throws {
        var books = try BooksCheck(site.auditor, findings)
        findings.check("HELD", "no genuine purchase is held", none: try books.held())
        try ShopCheck(record: record, findings: findings).check(&books)
        try books.checkItself()
        let facts = try books.facts(ofTypes: FactsCheck.types)
        _ = try FactsCheck(broker: site.broker, findings: findings).check(facts)
        var reconciliation = try ReconciliationCheck(site.auditor, findings)
        try reconciliation.check()
        repairs = try reconciliation.repairs()
        try ProductAudit(site: site, findings: findings).check()
    }

    // MARK: - Telling

    private func conclude(_ nemesis: Nemesis, _ supervisor: Supervisor) -> Int32 {
        let purchases = record.purchases
        let submissions = purchases.values.reduce(0) { $0 + $1.submissions }
        print("")
        print("purchases paid        \(purchases.count), submitted \(submissions) times")
        print("spends                \(record.spends.count)")
        print(
            "purchases refunded    \(record.refunded.count), \(record.shares.values.count { $0 > 0 }) of them in the end"
        )
        print(
            "calls                 \(record.calls.sorted { $0.key < $1.key }.map { "\($0.value) × \($0.key)" }.joined(separator: ", "))"
        )
        print("repairs               \(repairs)")
        print("slowest answer        \(Self.rounded(record.slowest.seconds)) s")
        print("restarts of clients   \(record.restarts)")
        print(
            "starts of processes   \(supervisor.starts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", "))"
        )
        for fault in Fault.allCases {
            let seconds = nemesis.comebacks.filter { $0.fault == fault }.map(\.seconds)
            guard let longest = seconds.max() else { continue }
            print("back after            \(Self.rounded(longest)) s at most, \(fault.rawValue) × \(seconds.count)")
        }
        print("all done after        \(Self.rounded(settled)) s; the plan took \(nemesis.lag) ms longer than planned")
        guard !findings.all.isEmpty else {
            print("\nseed \(plan.seed): all \(findings.checked) promises hold.")
            return 0
        }
        print("\nseed \(plan.seed): \(findings.all.count) promises are broken:")
        for finding in findings.all { print("  ✘ \(finding.promise): \(finding.text)") }
        print("\nagain: make chaos DURATION=\(plan.seconds) SEED=\(plan.seed)")
        print("kept:  \(site.state)/logs, plan.txt and report.json beside it")
        return 1
    }

    private func report(_ nemesis: Nemesis, _ supervisor: Supervisor) -> JSONObject {
        let purchases = record.purchases
        return [
            "seed": .integer(Int64(bitPattern: plan.seed)), "seconds": .integer(Int64(plan.seconds)),
            "held": .bool(findings.all.isEmpty), "findings": findings.json,
            "promisesChecked": .integer(Int64(findings.checked)),
            "purchases": .integer(Int64(purchases.count)),
            "submissions": .integer(Int64(purchases.values.reduce(0) { $0 + $1.submissions })),
            "spends": .integer(Int64(record.spends.count)), "repairs": .integer(repairs),
            "refunded": .integer(Int64(record.refunded.count)),
            "calls": .object(Self.counts(record.calls)), "starts": .object(Self.counts(supervisor.starts)),
            "slowestAnswerMilliseconds": .integer(Int64(record.slowest.seconds * 1_000)),
            "settledMilliseconds": .integer(Int64(settled * 1_000)), "lagMilliseconds": .integer(Int64(nemesis.lag)),
            "faults": .object(Self.counts(Dictionary(grouping: plan.entries, by: \.fault.rawValue).mapValues(\.count))),
            "comebacks": .array(
                nemesis.comebacks.map {
                    ["fault": .string($0.fault.rawValue), "milliseconds": .integer(Int64($0.seconds * 1_000))]
                }),
        ]
    }

    private static func counts(_ counts: [String: Int]) -> JSONObject {
        JSONObject(counts.sorted { $0.key < $1.key }.map { (key: $0.key, value: .integer(Int64($0.value))) })
    }

    private static func rounded(_ seconds: Double) -> String { "\(Double(Int(seconds * 100)) / 100)" }
}
