/// `purser-drills bench`: measures everything the design promises and prints one table.
///
/// Exit code: 0 every target reached (or not measurable, which is told), 1 errors or wrong answers, 2 it could not run,
/// 3 a target missed.
enum BenchCommand {
    static func run() -> Int32 {
        do {
            let options = try BenchOptions()
            var report = BenchReport(machine: Machine.look(folder: options.folder))
            if report.machine.isNoisy { report.note("others used this machine when the bench began") }
            for part in options.parts {
                print("measuring \(part.rawValue) …")
                do {
                    try measure(part, options, &report)
                } catch {
                    report.fail("\(part.rawValue): \(error)")
                }
            }
            report.print()
            if let output = options.output, !report.write(to: output) {
                print("cannot write \(output)")
                return 2
            }
            return report.exitCode
        } catch {
            print("the bench cannot run: \(error)")
            return 2
        }
    }

    private static func measure(
        _ part: BenchOptions.Part, _ options: BenchOptions, _ report: inout BenchReport
    ) throws {
        switch part {
        case .verify:
            try VerifyBench.run(options, &report)
            try ReceiptBench.run(&report)
        case .grant: try GrantBench.run(&report)
        case .e2e: try EndToEndBench.run(options, &report)
        case .surfaces: try SurfacesBench.run(options, &report)
        case .notify:
            try RefundBench.run(&report)
            try NotifyBench.run(options, &report)
        }
    }
}
