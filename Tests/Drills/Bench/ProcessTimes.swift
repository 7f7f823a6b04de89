import Glibc

/// Processor time of everything that takes part, by place, at one moment.
struct ProcessTimes {
    /// Seconds by place. A place that has ended since keeps nothing: its time went to its parent, when that waited.
    let seconds: [String: Double]
    private let machine: ProcessorTime

    /// Reads them all.
    static func read(_ deployment: BenchDeployment) throws -> ProcessTimes {
        var seconds: [String: Double] = [:]
        for name in BenchDeployment.services {
            seconds[name] = deployment.process(ofService: name).flatMap { time(of: $0)?.own }
        }
        seconds["broker"] = deployment.process("broker/pid").flatMap { time(of: $0)?.own }
        seconds["load generator"] = time(of: getpid())?.own
        if let postmaster = deployment.process("database/pid") {
            // Workers that came and went, such as autovacuum's.
            seconds["database: ended workers"] = time(of: postmaster)?.children
            let sessions = try deployment.sessions()
            for (pid, stat) in processes() where stat.parent == postmaster {
                seconds["database: " + name(of: pid, sessions), default: 0] += stat.own
            }
        }
        return ProcessTimes(seconds: seconds, machine: .now)
    }

    /// Microseconds by place of one of `count` things called `name`, largest first, and what the machine did besides.
    func breakdown(of name: String, since earlier: ProcessTimes, count: Int) -> BenchReport.Breakdown {
        let scale = 1e6 / Double(max(count, 1))
        let places = seconds.map {
            (place: $0.key, value: ($0.value - (earlier.seconds[$0.key] ?? 0)) * scale, note: "")
        }
        let interrupts = machine.interrupts(since: earlier.machine) * scale
        let network = (
            place: "interrupts", value: interrupts, note: "the network on one machine, which no process pays"
        )
        let shown = (places + [network]).filter { $0.value >= 0.5 }.sorted { $0.value > $1.value }
        let known = shown.reduce(0) { $0 + $1.value }
        let all = machine.seconds(since: earlier.machine) * scale
        let rest = (place: "everything else", value: all - known, note: "kernel threads, other people's processes")
        return BenchReport.Breakdown(
            title: "Processor time of one \(name) at full load", unit: "µs", rows: shown + [rest],
            total: "all processors' busy time")
    }

    /// What others used of each of our seconds, in processors: neither ours nor the network's.
    func others(since earlier: ProcessTimes) -> Double {
        let ours = seconds.reduce(0) { $0 + $1.value - (earlier.seconds[$1.key] ?? 0) }
        let all = machine.seconds(since: earlier.machine)
        return max(all - ours - machine.interrupts(since: earlier.machine), 0) / all * busy(since: earlier)
    }

    /// Processors' worth of time used since `earlier`.
    func busy(since earlier: ProcessTimes) -> Double { machine.busy(since: earlier.machine) }

    private struct Stat {
        let name: String
        let parent: Int32
        let own: Double
        let children: Double
    }

    /// Seconds of every process there is.
    static func all() -> [Int32: Double] {
        Dictionary(uniqueKeysWithValues: processes().map { ($0.pid, $0.stat.own) })
    }

    /// What every process has used since, the busiest first.
    static func used(since earlier: [Int32: Double]) -> [(name: String, seconds: Double)] {
        processes().map { ($0.stat.name, $0.stat.own - (earlier[$0.pid] ?? 0)) }.sorted { $0.1 > $1.1 }
    }

    private static func time(of pid: Int32) -> Stat? {
        // The name in parentheses may hold anything; fields are counted after it.
        guard let text = ProcFile.read("/proc/\(pid)/stat"), let end = text.lastIndex(of: ")") else { return nil }
        let fields = text[text.index(after: end)...].split(separator: " ")
        // Fields 4 and 14 to 17 of proc(5): parent, own user and system time, those of children that ended.
        guard fields.count > 14, let parent = Int32(fields[1]) else { return nil }
        let ticks = fields[11...14].map { Double($0) ?? 0 }
        let name = text[..<end].drop { $0 != "(" }.dropFirst()
        return Stat(
            name: String(name), parent: parent, own: (ticks[0] + ticks[1]) / ProcFile.ticksPerSecond,
            children: (ticks[2] + ticks[3]) / ProcFile.ticksPerSecond)
    }

    private static func processes() -> [(pid: Int32, stat: Stat)] {
        guard let folder = opendir("/proc") else { return [] }
        defer { closedir(folder) }
        var found: [(Int32, Stat)] = []
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            guard let pid = Int32(name), let stat = time(of: pid) else { continue }
            found.append((pid, stat))
        }
        return found
    }

    /// "verification.purchases" for a lane's session, "walwriter" for the server's own.
    private static func name(of pid: Int32, _ sessions: [Int32: String]) -> String {
        if let session = sessions[pid] { return session.split(separator: " ").last.map(String.init) ?? "other" }
        let title = ProcFile.read("/proc/\(pid)/cmdline")?.prefix { $0 != "\0" } ?? "?"
        return title.split(separator: ":").dropFirst().first.map { String($0.trimmingPrefix(" ")) } ?? "other"
    }
}
