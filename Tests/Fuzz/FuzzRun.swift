import Glibc
import Runtime
import TestSupport

/// Runs every target in a child process, keeps what broke one, and prints the table.
struct FuzzRun {
    let settings: FuzzSettings
    /// This program.
    let program: String

    /// How long a child may make no progress: no input may take a second.
    private static let patience = Duration.seconds(20)

    func run() -> Int32 {
        FileBytes.makeFolder(settings.files.state)
        // Made before the children, which all use it.
        _ = try? FuzzTargets.make("certificate", settings.files)
        say("seed \(settings.seed), \(settings.seconds) s for \(settings.targets.count) targets")
        say(Self.row("target", "inputs", "accepted", "slowest ms", "memory MiB", "result"))
        let share = max(1, settings.seconds / settings.targets.count)
        var failed = 0
        for target in settings.targets {
            let (report, what) = run(target, seconds: share)
            if what != nil { failed += 1 }
            let milliseconds = "\(report.slowest / 1_000).\(report.slowest / 100 % 10)"
            say(
                Self.row(
                    target, String(report.inputs), String(report.accepted), milliseconds, String(report.memory / 1_024),
                    what ?? "ok"))
        }
        say(failed == 0 ? "nothing broke" : "\(failed) targets broke; repeat with --seed \(settings.seed)")
        return failed == 0 ? 0 : 1
    }

    private static func row(_ cells: String...) -> String {
        zip(cells, [12, 10, 10, 11, 11, 0]).map { cell, width in
            cell + String(repeating: " ", count: max(1, width - cell.count))
        }.joined()
    }

    /// What a target's child reported, and what is wrong if something is.
    private func run(_ target: String, seconds: Int) -> (FuzzReport, String?) {
        let scratchFile = "\(settings.failures)/\(target).scratch"
        unlink(scratchFile)
        guard let scratch = Scratch(scratchFile) else {
            return (FuzzReport(), "no scratch file in \(settings.failures)")
        }
        defer { unlink(scratchFile) }
        let output = "\(settings.failures)/\(target).output"
        let arguments = [
            program, "--target", target, "--seconds", String(seconds), "--seed", String(settings.seed), "--inputs",
            String(settings.inputs), "--fixtures", settings.fixtures, "--failures", settings.failures, "--scratch",
            scratchFile,
        ]
        guard let pid = Self.start(arguments, output: output) else { return (FuzzReport(), "no child process") }
        let (status, isHung) = Self.wait(pid, scratch)
        let lines = FileBytes.text(output).split(separator: "\n")
        let report = lines.last.flatMap { FuzzReport(line: $0) }
        if status == 0, let report { return (report, nil) }
        var ended = report ?? FuzzReport()
        if report == nil { ended.inputs = Int(scratch.count) }
        let what =
            isHung
            ? "no progress for \(Self.patience)"
            : report?.failure
                ?? (status & 0x7F != 0 ? "ended by signal \(status & 0x7F)" : "ended: \(lines.last ?? "")")
        let kept = "\(settings.failures)/\(target)-\(settings.seed)-\(scratch.count).input"
        FileBytes.write(scratch.input, to: kept)
        return (ended, "\(what); kept in \(kept)")
    }

    private static func start(_ arguments: [String], output: String) -> pid_t? {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        posix_spawn_file_actions_adddup2(&actions, 1, 2)
        var words: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        // A crash is to be told at once, not after a backtrace of a minute.
        var variables: [UnsafeMutablePointer<CChar>?] = [strdup("SWIFT_BACKTRACE=enable=no"), nil]
        defer { for variable in variables { free(variable) } }
        var pid = pid_t()
        let code = SpawnAttributes.withNoBlockedSignals {
            posix_spawn(&pid, arguments[0], &actions, $0, &words, &variables)
        }
        return code == 0 ? pid : nil
    }

    /// Waits for a child's end; one that hangs on an input is killed.
    private static func wait(_ pid: pid_t, _ scratch: Scratch) -> (status: Int32, isHung: Bool) {
        let never = StopSignal()
        var (count, since) = (scratch.count, ContinuousClock.now)
        var status: Int32 = 0
        while waitpid(pid, &status, WNOHANG) == 0 {
            _ = never.wait(for: .milliseconds(20))
            if scratch.count != count { (count, since) = (scratch.count, .now) }
            guard since.duration(to: .now) > patience else { continue }
            kill(pid, SIGKILL)
            waitpid(pid, &status, 0)
            return (status, true)
        }
        return (status, false)
    }
}
