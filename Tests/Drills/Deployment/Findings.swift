import JSON
import Synchronization

/// What a drill found wrong, and what it measured. Any thread.
final class Findings: Sendable {
    /// One promise that did not hold.
    struct Finding: Sendable, Equatable {
        /// Its id, such as `INV2`.
        let promise: String
        /// What was seen.
        let text: String
    }

    private let findings = Mutex<[Finding]>([])
    private let checks = Mutex<[(promise: String, what: String)]>([])

    /// A promise is broken.
    func add(_ promise: String, _ text: String) {
        findings.withLock { $0.append(Finding(promise: promise, text: text)) }
        print("  ✘ \(promise): \(text)")
    }

    /// A promise was looked at: broken unless `problems` is empty. At most a few of them are told.
    func check(_ promise: String, _ what: String, _ problems: [String]) {
        checks.withLock { $0.append((promise, what)) }
        guard problems.isEmpty else {
            let more = problems.count > Self.told ? " … and \(problems.count - Self.told) more" : ""
            return add(promise, "\(what): \(problems.prefix(Self.told).joined(separator: "; "))\(more)")
        }
        print("  ✔ \(promise.padded(to: 8)) \(what)")
    }

    /// A promise that is a count which must be 0.
    func check(_ promise: String, _ what: String, none count: Int64) {
        check(promise, what, count == 0 ? [] : ["\(count) do not"])
    }

    private static let told = 5

    /// Everything broken.
    var all: [Finding] { findings.withLock { $0 } }
    /// How many promises were looked at.
    var checked: Int { checks.withLock { $0.count } }

    /// For the report.
    var json: JSONValue {
        .array(all.map { .object(["promise": .string($0.promise), "text": .string($0.text)]) })
    }
}
