import Runtime
import Synchronization

/// Looks at the services' memory once a second while something else is measured.
final class MemoryWatch: Sendable {
    private let stop = StopSignal()
    private let samples = Mutex<[String: [Double]]>([:])
    private let thread = Mutex<NamedThread?>(nil)
    private let processes: [String: Int32]

    /// Begins to look.
    static func start(_ deployment: BenchDeployment) -> MemoryWatch {
        let watch = MemoryWatch(deployment)
        let thread = NamedThread.start(name: "memory") { watch.run() }
        watch.thread.withLock { $0 = thread }
        return watch
    }

    private init(_ deployment: BenchDeployment) {
        var processes: [String: Int32] = [:]
        for name in BenchDeployment.services { processes[name] = deployment.process(ofService: name) }
        self.processes = processes
    }

    /// Stops looking, and tells the largest resident size a service had, and how it grew in the second half.
    func finish() -> [Measurement] {
        stop.stop()
        thread.withLock { $0 }?.join()
        return BenchDeployment.services.flatMap(measurements)
    }

    private func run() {
        repeat {
            for (name, pid) in processes {
                guard let size = Self.megabytes(pid, "VmRSS") else { continue }
                samples.withLock { $0[name, default: []].append(size) }
            }
        } while !stop.wait(for: .seconds(1))
    }

    private func measurements(_ service: String) -> [Measurement] {
        let sizes = samples.withLock { $0[service] ?? [] }
        // 64 MB is the promise. Flat: under 1 MB in half a run, 33 bytes of each of 30,000 purchases.
        let (size, growth) = (Measurement.Target.atMost(64), Measurement.Target.atMost(1))
        guard let largest = sizes.max(), sizes.count >= 4, let pid = processes[service] else {
            return [Measurement("rss_\(service)", size, notMeasured: "the process cannot be read")]
        }
        let half = Array(sizes.suffix(sizes.count / 2))
        let grown = Statistics.slope(half) * Double(half.count - 1)
        let peak = Self.megabytes(pid, "VmHWM").map { Decimal.text($0) } ?? "?"
        return [
            Measurement(
                "rss_\(service)", largest, "MB", size,
                how: "largest of \(sizes.count) samples at full load; peak \(peak)"),
            Measurement(
                "rss_growth_\(service)", grown, "MB", growth, how: "fitted over the last \(half.count) s of full load"),
        ]
    }

    /// A line of `/proc/PID/status` in MB; nil if it cannot be read.
    static func megabytes(_ pid: Int32, _ field: String) -> Double? {
        let line = ProcFile.read("/proc/\(pid)/status")?.split(separator: "\n").first { $0.hasPrefix(field + ":") }
        return line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Double($0) }.map { $0 / 1_024 }
    }
}
