import Glibc
import JSON

/// What the numbers were measured on.
struct Machine: Sendable {
    /// Processors the system shows.
    let cores: Int
    /// The processor's own name.
    let model: String
    /// The load average of the last minute, before anything began.
    let load: String
    /// How many processors' time others used in the second before anything began.
    let others: Double
    /// Their names, the busiest first.
    let culprits: String
    /// Milliseconds of `fdatasync` after 8 KiB, the median of many: what a commit waits for at least.
    let fsync: Double

    /// Above this share of one processor, others disturb what is measured.
    static let noise = 0.05

    /// Looks at this machine; takes a second. `folder` is on the disk that the database uses.
    static func look(folder: String) -> Machine {
        let model = ProcFile.read("/proc/cpuinfo")?.split(separator: "\n").first { $0.hasPrefix("model name") }
        let load = ProcFile.read("/proc/loadavg")?.split(separator: " ").first
        let (before, processes) = (ProcessorTime.now, ProcessTimes.all())
        BenchClock.pause(.seconds(1))
        let (now, used) = (ProcessorTime.now, ProcessTimes.used(since: processes))
        return Machine(
            cores: sysconf(Int32(_SC_NPROCESSORS_ONLN)),
            model: model?.split(separator: ":").last.map { String($0.trimmingPrefix(" ")) } ?? "unknown",
            load: load.map(String.init) ?? "?", others: now.busy(since: before),
            culprits: used.prefix(3).map { "\($0.name) \(Decimal.text($0.seconds * 100, digits: 0)) %" }
                .joined(separator: ", "),
            fsync: fsyncMilliseconds(folder))
    }

    /// Whether others used the processors when the bench began.
    var isNoisy: Bool { others > Self.noise }

    /// For people.
    var lines: [String] {
        [
            "machine: \(cores) cores, \(model); load average \(load); others used "
                + "\(Decimal.text(others * 100, digits: 0)) % of a core"
                + (isNoisy ? ": NOISY, do not trust (\(culprits))" : ""),
            "fsync: \(Decimal.text(fsync, digits: 3)) ms (median of fdatasync after 8 KiB)",
        ]
    }

    /// For scripts.
    var json: JSONObject {
        [
            "cores": .integer(Int64(cores)), "model": .string(model), "load": .string(load),
            "others": BenchReport.number(others) ?? .null, "noisy": .bool(isNoisy),
            "fsyncMilliseconds": BenchReport.number(fsync) ?? .null,
        ]
    }

    private static func fsyncMilliseconds(_ folder: String) -> Double {
        let path = folder + "/fsync-probe"
        let file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard file >= 0 else { return .infinity }
        defer {
            close(file)
            unlink(path)
        }
        // A page of PostgreSQL's log, written over and over as a recycled log file is.
        let page = [UInt8](repeating: 7, count: 8_192)
        let times = (0..<101).map { _ in
            let began = ContinuousClock.now
            _ = pwrite(file, page, page.count, 0)
            fdatasync(file)
            return began.duration(to: .now).inSeconds * 1_000
        }
        return Statistics.median(times) ?? .infinity
    }
}

/// Time all processors have spent, in units of one processor.
struct ProcessorTime {
    private let busy: Double
    /// Of that, interrupts: all of the network on one machine, which belongs to no process.
    private let interrupts: Double
    private let taken: ContinuousClock.Instant

    /// Since the machine started, from the first line of /proc/stat: everything but idle and waiting for disks.
    static var now: ProcessorTime {
        let fields = ProcFile.read("/proc/stat")?.split(separator: "\n").first?.split(separator: " ").dropFirst() ?? []
        let ticks = fields.map { Double($0) ?? 0 }
        let busy = ticks.prefix(8).reduce(0, +) - ticks.dropFirst(3).prefix(2).reduce(0, +)
        let interrupts = ticks.dropFirst(5).prefix(2).reduce(0, +)
        return ProcessorTime(
            busy: busy / ProcFile.ticksPerSecond, interrupts: interrupts / ProcFile.ticksPerSecond, taken: .now)
    }

    /// Processors' worth of time used since `earlier`.
    func busy(since earlier: ProcessorTime) -> Double {
        seconds(since: earlier) / max(earlier.taken.duration(to: taken).inSeconds, 0.001)
    }

    /// Seconds of processor time used since `earlier`.
    func seconds(since earlier: ProcessorTime) -> Double { busy - earlier.busy }

    /// Seconds of them spent in interrupts.
    func interrupts(since earlier: ProcessorTime) -> Double { interrupts - earlier.interrupts }
}

/// Small files of the kernel.
enum ProcFile {
    /// The kernel counts processor time in these.
    static let ticksPerSecond = Double(sysconf(Int32(_SC_CLK_TCK)))

    /// The whole text, nil if it cannot be read.
    static func read(_ path: String) -> String? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 16_384)
        while true {
            let count = Glibc.read(file, &buffer, buffer.count)
            guard count > 0 else { break }
            bytes += buffer[..<count]
        }
        return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
    }
}

/// Waiting in a bench is part of what is measured: an arrival time, a second between two samples.
enum BenchClock {
    /// Blocks the thread.
    static func pause(_ duration: Duration) { _ = poll(nil, 0, Int32(duration.inSeconds * 1_000)) }

    /// Nanoseconds of a clock that never jumps.
    static var nanoseconds: UInt64 {
        var now = timespec()
        clock_gettime(CLOCK_MONOTONIC, &now)
        return UInt64(now.tv_sec) * 1_000_000_000 + UInt64(now.tv_nsec)
    }
}
