import AppStoreSimulation
import Glibc
import HTTPClient
import JSON
import Runtime
import TestSupport

/// Carries out a plan, one step after the other on one thread, and looks whether the deployment comes back from each.
final class Nemesis {
    /// How long something took to work again after what it needs was back.
    struct Comeback {
        let fault: Fault
        let seconds: Double
    }

    /// A fault begins, or ends.
    private struct Step {
        let at: Int
        let until: Int
        let entry: ChaosPlan.Entry
        let isBegin: Bool
    }

    /// How soon after a dependency's return every service must be ready, without a restart, and purchases flow. The
    /// slowest part is a connection attempt that has just failed: at most 5 s to the next.
    static let comebackLimit = Duration.seconds(10)
    /// After this long nobody waits any more.
    private static let comebackPatience = Duration.seconds(60)
    /// Far below what a broker uses: the alarm comes at once.
    private static let littleMemory = "20MB"
    /// As infra/scripts/broker configures it.
    private static let usualMemory = "1024MB"
    private static let slowness = Duration.milliseconds(500)

    private let site: Site
    private let plan: ChaosPlan
    private let supervisor: Supervisor
    private let proxies: Proxies
    private let record: Record
    private let findings: Findings
    private let readiness: Readiness
    private let never = StopSignal()
    private let began = ContinuousClock.now
    /// How much later than planned everything happens (ms).
    private(set) var lag = 0
    private(set) var comebacks: [Comeback] = []
    private var pidsBefore: [String: pid_t] = [:]

    init(
        _ site: Site, _ plan: ChaosPlan, _ supervisor: Supervisor, _ proxies: Proxies, _ record: Record,
        _ findings: Findings
    ) {
        self.site = site
        self.plan = plan
        self.supervisor = supervisor
        self.proxies = proxies
        self.record = record
        self.findings = findings
        readiness = Readiness(site)
    }

    /// Does everything. Throws if a script fails: then the machine is at fault, not the product.
    func run() throws {
        for step in steps() {
            wait(until: step.at)
            let entry = step.entry
            say(step)
            if step.isBegin { try begin(entry) } else { try end(entry) }
            // Whatever took longer than planned moves the rest.
            lag = max(lag, elapsed - step.until)
        }
        wait(until: plan.seconds * 1_000)
    }

    private func steps() -> [Step] {
        plan.entries.flatMap { entry -> [Step] in
            guard entry.length > 0 else { return [Step(at: entry.at, until: entry.until, entry: entry, isBegin: true)] }
            return [
                Step(at: entry.at, until: entry.at + entry.length, entry: entry, isBegin: true),
                Step(at: entry.at + entry.length, until: entry.until, entry: entry, isBegin: false),
            ]
        }.sorted { ($0.at, $0.isBegin ? 1 : 0) < ($1.at, $1.isBegin ? 1 : 0) }
    }

    private var elapsed: Int { Int(began.duration(to: .now).seconds * 1_000) }

    private func wait(until milliseconds: Int) {
        let left = milliseconds + lag - elapsed
        if left > 0 { _ = never.wait(for: .milliseconds(left)) }
    }

    private func say(_ step: Step) {
        let word = step.entry.length == 0 ? "" : step.isBegin ? "begins" : "ends"
        let line =
            "\(ChaosPlan.seconds(elapsed).padded(to: 8, left: true))  "
            + "\(step.entry.fault.rawValue.padded(to: 20)) \(step.entry.victim.padded(to: 14)) \(word)"
        print(line.trimmedAtEnd)
    }

    // MARK: - Faults

    private func begin(_ entry: ChaosPlan.Entry) throws {
        // The pids are compared afterwards: whoever is still starting would spoil that.
        if entry.fault.isOutage { prepareForOutage() }
        switch entry.fault {
        case .kill: supervisor.kill(entry.victim)
        case .killAll:
            for service in site.services { supervisor.kill(service) }
            awaitComeback(.killAll)
        case .freeze: supervisor.signal(entry.victim, SIGSTOP)
        case .brokerKill: try site.run("broker", "kill")
        case .brokerRestart: try site.run("broker", "stop")
        case .databaseFast: try site.run("database", "stop")
        case .databaseImmediate: try site.run("database", "abort")
        case .databaseKill: try site.run("database", "kill")
        case .memoryAlarm:
            try site.run("broker", "ctl", "set_vm_memory_high_watermark", "absolute", Self.littleMemory)
            try expectRefusalAtOnce()
        case .halfOpenBroker: proxies.broker[entry.victim]?.stall()
        case .halfOpenDatabase: proxies.database[entry.victim]?.stall()
        case .slowDatabase:
            for proxy in proxies.database.values { proxy.delay(Self.slowness, from: .client) }
        case .bothBrokerFirst, .bothDatabaseFirst:
            try site.run("broker", "kill")
            try site.run("database", "kill")
        }
    }

    private func end(_ entry: ChaosPlan.Entry) throws {
        switch entry.fault {
        case .kill, .killAll: return
        case .freeze: supervisor.signal(entry.victim, SIGCONT)
        case .brokerKill, .brokerRestart: try site.run("broker", "start")
        case .databaseFast, .databaseImmediate, .databaseKill: try site.run("database", "start")
        case .memoryAlarm:
            try site.run("broker", "ctl", "set_vm_memory_high_watermark", "absolute", Self.usualMemory)
        case .halfOpenBroker:
            proxies.broker[entry.victim]?.cut()
            proxies.broker[entry.victim]?.pass()
        case .halfOpenDatabase:
            proxies.database[entry.victim]?.cut()
            proxies.database[entry.victim]?.pass()
        case .slowDatabase:
            for proxy in proxies.database.values { proxy.pass() }
        case .bothBrokerFirst:
            try site.run("broker", "start")
            try site.run("database", "start")
        case .bothDatabaseFirst:
            try site.run("database", "start")
            try site.run("broker", "start")
        }
        if entry.fault.isOutage {
            awaitComeback(entry.fault)
            expectNoRestart(entry.fault)
        }
    }

    /// Whatever was left open is closed: nothing is frozen, cut off, slow or away.
    func liftAll() throws {
        for service in site.services { supervisor.signal(service, SIGCONT) }
        for proxy in Array(proxies.broker.values) + Array(proxies.database.values) { proxy.pass() }
        try site.run("database", "start")
        try site.run("broker", "start")
        try site.run("broker", "ctl", "set_vm_memory_high_watermark", "absolute", Self.usualMemory)
    }

    // MARK: - What must hold meanwhile

    private func prepareForOutage() {
        _ = readiness.wait(until: .now + Self.comebackPatience)
        pidsBefore = supervisor.pids
    }

    private func expectNoRestart(_ fault: Fault) {
        let pids = supervisor.pids
        let restarted = site.services.filter { pids[$0] != pidsBefore[$0] }
        if !restarted.isEmpty {
            findings.add(
                "R03-R05", "\(fault.rawValue) was survived only by a restart of \(restarted.joined(separator: ", "))")
        }
    }

    /// Every service is ready and at least one more purchase is answered as delivered.
    private func awaitComeback(_ fault: Fault) {
        let start = ContinuousClock.now
        let delivered = record.delivered
        let ready = readiness.wait(until: start + Self.comebackPatience)
        while record.delivered == delivered, start.duration(to: .now) < Self.comebackPatience {
            _ = never.wait(for: .milliseconds(20))
        }
        let seconds = start.duration(to: .now).seconds
        comebacks.append(Comeback(fault: fault, seconds: seconds))
        guard start.duration(to: .now) > Self.comebackLimit else { return }
        let who = ready.isEmpty ? "purchases flow" : "\(ready.joined(separator: ", ")) not ready, purchases flow"
        findings.add("LIVE", "after \(fault.rawValue): \(who) after \(Int(seconds)) s")
    }

    /// While the broker takes nothing the gateway says so at once instead of letting people wait (R14).
    private func expectRefusalAtOnce() throws {
        // The gateway has a second to notice.
        _ = never.wait(for: .seconds(1))
        var client = try HTTPClient.open()
        let token = try site.login.token("chaos-alarm")
        let start = ContinuousClock.now
        let response = try? client.send(
            HTTPClientRequest(
                "POST", site.gateway + "/api/iap/orders",
                headers: [("Authorization", "Bearer " + token), ("Content-Type", "application/json")],
                body: JSONWriter.write(["appleProductId": .string(Goods.all[0].id)] as JSONObject)))
        let seconds = start.duration(to: .now).seconds
        if response?.status != 503 || response?.header("Retry-After") == nil || seconds > 1 {
            let status = response.map { "\($0.status)" } ?? "nothing"
            findings.add("R14", "a blocked broker was answered with \(status) after \(seconds) s, not with 503 at once")
        }
    }
}
