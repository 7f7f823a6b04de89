/// The report for people.
extension AuditReport {
    /// A line a check, then its findings; at last the sum.
    var lines: [String] {
        var lines = ["audit of database \(database) at \(TimeText.text(seconds: snapshot / 1_000)), \(scopeText)"]
        let width = outcomes.map(\.name.count).max() ?? 0
        for outcome in outcomes {
            let verdict = outcome.total == 0 ? "ok   " : "FAIL "
            let name = outcome.name + String(repeating: " ", count: width - outcome.name.count)
            let examined = "\(outcome.examined) \(outcome.noun), \(outcome.milliseconds) ms"
            lines.append("\(verdict) \(name)  \(outcome.proves)  (\(examined))")
            lines += outcome.findings.map { "        \(Self.text($0))" }
            let more = outcome.total - Int64(outcome.findings.count)
            if more > 0 { lines.append("        and \(more) more") }
        }
        lines += sights.flatMap { self.lines($0) }
        if !purchases.isEmpty {
            lines.append("transactions: " + purchases.map { "\($0.count) \($0.outcome)" }.joined(separator: ", "))
        }
        lines.append(brokerLine)
        let verdict = exitCode == 2 ? "not carried out to the end" : total == 0 ? "clean" : "FOUND \(total)"
        lines.append("\(verdict): \(outcomes.count + sights.count) checks in \(milliseconds) ms")
        return lines
    }

    private var scopeText: String {
        guard let since = scope.since else { return "everything" }
        return "what is new since \(TimeText.text(seconds: since.time / 1_000))"
    }

    private static func text(_ finding: Finding) -> String {
        (finding.keys.map { "\($0.name) \($0.value)" } + [finding.problem]).joined(separator: "; ")
    }

    private func lines(_ sight: Sight) -> [String] {
        let check = sight.check
        let unseen = "\(check.name)  \(sight.total) \(check.noun) not decided on"
        let first: String
        switch verdict(sight) {
        case .none: return ["ok    \(check.name)  \(check.proves) (up to \(grace) s ago)"]
        case .inQuestion(let bound): first = "?     \(unseen); the queues hold up to \(bound) of them"
        case .lost(let count): first = "FAIL  \(unseen), at least \(count) of them in no queue"
        case .unknown(let reason):
            first =
                "?     \(unseen), and the broker cannot be asked whether they wait: \(reason); check "
                + "PURSER_CONTROL_AMQP_URL and the broker"
        }
        var lines = [first]
        lines += sight.unseen.map { one in
            let parts =
                one.keys.map { "\($0.name) \($0.value)" }
                + ["\(check.verb) \(one.age) s ago by message \(one.message)"] + (one.problem.map { [$0] } ?? [])
            return "        " + parts.joined(separator: "; ")
        }
        let more = sight.total - Int64(sight.unseen.count)
        if more > 0 { lines.append("        and \(more) more") }
        return lines
    }

    private var brokerLine: String {
        switch broker {
        case .queues(let queues):
            let waiting = queues.messages.filter { $0.value > 0 }.sorted { $0.key < $1.key }
            let text = waiting.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
            return "queues: " + (text.isEmpty ? "empty" : text)
        case .notAsked: return "queues: not asked, PURSER_CONTROL_AMQP_URL is not set"
        case .unreachable(let reason): return "queues: cannot be asked: \(reason)"
        }
    }
}
