import Glibc
import TestSupport

/// Tries inputs on a target until a promise is broken, the time is over, or enough were tried.
struct FuzzLoop {
    /// No input may take longer: the design allows a request 10 ms, a busy machine and a debug build get ten times that.
    static let slowestAllowed = 100_000
    /// A process that keeps more than this leaks, or believes a length it was told (KiB).
    static let memoryAllowed = 256 << 10

    /// Repeats a run; every input follows from it and its number.
    let seed: UInt64
    /// When to stop.
    let deadline: ContinuousClock.Instant
    /// How many inputs to try at most.
    var most = Int.max
    /// How many inputs to try at least, however long that takes.
    var least = 0
    /// Whether time and memory are part of the promise: not in a process that runs other tests beside.
    var isAlone = true
    /// Keeps the input that is tried.
    var keep: (_ input: [UInt8], _ number: Int) -> Void = { _, _ in }

    /// Seeds first, as they are, then damaged ones.
    func run(_ target: inout some FuzzTarget) -> FuzzReport {
        var report = FuzzReport()
        let seeds = target.seeds
        while report.inputs < most, report.inputs < least || ContinuousClock.now < deadline {
            let number = report.inputs
            var input: [UInt8]
            if number < seeds.count {
                input = seeds[number]
            } else {
                var mutator = Mutator(seed: seed &+ UInt64(number), others: seeds, longest: target.longest)
                input = target.make(from: mutator.one(of: seeds) ?? [], by: &mutator)
            }
            report.inputs += 1
            keep(input, number)
            Self.attempt(input, on: &target, &report)
            if isAlone {
                Self.judgeTime(&report)
                if number % 256 == 0 { Self.measureMemory(&report) }
            }
            if report.failure != nil { break }
        }
        if isAlone { Self.measureMemory(&report) }
        return report
    }

    /// Tries one input.
    static func attempt(_ input: [UInt8], on target: inout some FuzzTarget, _ report: inout FuzzReport) {
        let began = processorTime()
        do throws(Violation) {
            if try target.run(input) { report.accepted += 1 }
        } catch {
            report.failure = error.what
        }
        let took = processorTime() - began
        report.slowest = max(report.slowest, took)
    }

    /// Makes an input that took too long a failure.
    static func judgeTime(_ report: inout FuzzReport) {
        guard report.slowest > slowestAllowed, report.failure == nil else { return }
        report.failure = "took \(report.slowest / 1_000) ms of the processor"
    }

    private static func measureMemory(_ report: inout FuzzReport) {
        report.memory = max(report.memory, residentMemory())
        if report.memory > memoryAllowed, report.failure == nil { report.failure = "\(report.memory) KiB are resident" }
    }

    /// Of this thread, in µs: what other processes do in the meantime does not count.
    private static func processorTime() -> Int {
        var now = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now)
        return now.tv_sec * 1_000_000 + now.tv_nsec / 1_000
    }

    /// KiB; pages of 4 KiB from the second number of statm.
    private static func residentMemory() -> Int {
        let parts = FileBytes.text("/proc/self/statm").split(separator: " ")
        return parts.count > 1 ? (Int(parts[1]) ?? 0) * Int(getpagesize()) / 1_024 : 0
    }
}
