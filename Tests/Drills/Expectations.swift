import AppStoreSimulation
import JSON

/// Tells a story line by line and remembers what was not as it must be.
struct Expectations {
    /// Why the story cannot go on.
    struct Stopped: Error, CustomStringConvertible {
        let description: String
    }

    private(set) var failures: [String] = []
    private(set) var checked = 0

    /// A new scene.
    func scene(_ title: String) { print("\n\(title)") }

    /// What happened.
    func tell(_ line: String) { print("    \(line)") }

    /// A value that must be equal to another.
    mutating func expect<Value: Equatable>(_ what: String, _ actual: Value, _ expected: Value) {
        checked += 1
        if actual == expected {
            print("  ✔ \(what): \(Self.text(actual))")
        } else {
            let failure = "\(what): expected \(Self.text(expected)), got \(Self.text(actual))"
            failures.append(failure)
            print("  ✘ \(failure)")
        }
    }

    /// A call that must be refused with this status and code. Returns the problem.
    @discardableResult
    mutating func expectRefusal(
        _ what: String, _ status: Int, _ code: String, _ call: () throws(BackendError) -> Void
    ) throws -> BackendProblem? {
        do throws(BackendError) {
            try call()
            expect(what, "accepted", "\(status) \(code)")
            return nil
        } catch {
            guard case .problem(let problem) = error else {
                throw Stopped(description: "\(what): \(error)")
            }
            expect(what, "\(problem.status) \(problem.code)", "\(status) \(code)")
            return problem
        }
    }

    /// The last lines, and the exit code.
    func conclude() -> Int32 {
        print("")
        guard failures.isEmpty else {
            print("\(failures.count) of \(checked) expectations failed:")
            for failure in failures { print("  ✘ \(failure)") }
            return 1
        }
        print("All \(checked) expectations hold.")
        return 0
    }

    private static func text<Value>(_ value: Value) -> String {
        switch value {
        case let amounts as [String: Int64]:
            amounts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
        case let object as JSONObject: String(decoding: JSONWriter.write(object), as: UTF8.self)
        case let flag as Bool: flag ? "yes" : "no"
        case let lines as [String]: lines.isEmpty ? "nothing" : lines.joined(separator: " | ")
        default: "\(value)"
        }
    }
}
