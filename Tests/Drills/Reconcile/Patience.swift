import Glibc
import Runtime

/// Tells what happens at once, and waits for nothing without a limit.
struct Patience: Sendable {
    private let never = StopSignal()
    /// Seconds that anything may take.
    let limit: Double

    /// A line, seen at once also where the output is a pipe.
    func say(_ line: String) {
        print(line)
        fflush(nil)
    }

    /// Waits until `state` says nothing more is missing, and tells every ten seconds what is.
    ///
    /// - Throws: `Site.Failure` with what was missing at the end.
    func wait(for what: String, _ state: () throws -> String?) throws {
        let began = ContinuousClock.now
        var told = began
        while let missing = try state() {
            guard began.duration(to: .now).seconds < limit else {
                throw Site.Failure(description: "after \(Int(limit)) s still waiting for \(what): \(missing)")
            }
            if told.duration(to: .now) >= .seconds(10) {
                told = .now
                say("        \(Int(began.duration(to: .now).seconds)) s: waiting for \(what): \(missing)")
            }
            _ = never.wait(for: .milliseconds(200))
        }
    }
}
