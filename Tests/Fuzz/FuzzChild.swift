import Glibc

/// A process that tries one target, or one input: whatever the input does, it does to this process only.
enum FuzzChild {
    /// Tries the first target until the time is over; prints its report.
    static func run(_ settings: FuzzSettings) -> Int32 {
        guard let name = settings.targets.first, let path = settings.scratch, let scratch = Scratch(path) else {
            return 2
        }
        do {
            guard var target = try FuzzTargets.make(name, settings.files) else { return 2 }
            var loop = FuzzLoop(seed: settings.seed, deadline: .now + .seconds(settings.seconds))
            loop.least = settings.inputs
            loop.keep = { input, number in scratch.keep(input, number: UInt64(number) + 1) }
            let report = run(loop, &target)
            print(report.line)
            return report.failure == nil ? 0 : 1
        } catch {
            print("the target cannot be set up: \(error)")
            return 2
        }
    }

    /// Tries one input and says what came of it.
    static func replay(_ settings: FuzzSettings, _ name: String, _ file: String) -> Int32 {
        do {
            guard var target = try FuzzTargets.make(name, settings.files, isReplay: true) else { return 2 }
            var report = FuzzReport()
            attempt(FileBytes.read(file), &target, &report)
            print(report.failure ?? (report.accepted > 0 ? "accepted" : "refused"), "in \(report.slowest) µs")
            return report.failure == nil ? 0 : 1
        } catch {
            print("the target cannot be set up: \(error)")
            return 2
        }
    }

    private static func run(_ loop: FuzzLoop, _ target: inout any FuzzTarget) -> FuzzReport {
        func open(_ opened: inout some FuzzTarget) -> FuzzReport { loop.run(&opened) }
        return open(&target)
    }

    private static func attempt(_ input: [UInt8], _ target: inout any FuzzTarget, _ report: inout FuzzReport) {
        func open(_ opened: inout some FuzzTarget) { FuzzLoop.attempt(input, on: &opened, &report) }
        defer { FuzzLoop.judgeTime(&report) }
        open(&target)
    }
}
