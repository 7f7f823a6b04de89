import JSON

/// The report for programs.
extension AuditReport {
    /// One object; members are only ever added.
    var json: JSONObject {
        [
            "clean": .bool(exitCode == 0), "exitCode": .integer(Int64(exitCode)), "findings": .integer(total),
            "database": .string(database), "snapshot": .string(TimeText.text(seconds: snapshot / 1_000)),
            "since": scope.since.map { .string(TimeText.text(seconds: $0.time / 1_000)) } ?? .null,
            "graceSeconds": .integer(Int64(grace)), "milliseconds": .integer(milliseconds),
            "checks": .array(outcomes.map { .object(Self.json($0)) } + sights.map { .object(json($0)) }),
            "transactions": .object(JSONObject(purchases.map { (key: $0.outcome, value: .integer($0.count)) })),
            "queues": queues,
        ]
    }

    private static func json(_ outcome: Outcome) -> JSONObject {
        [
            "name": .string(outcome.name), "proves": .string(outcome.proves), "examined": .integer(outcome.examined),
            "of": .string(outcome.noun), "findings": .integer(outcome.total),
            "milliseconds": .integer(outcome.milliseconds),
            "examples": .array(
                outcome.findings.map { finding in
                    let keys = finding.keys.map { (key: $0.name, value: JSONValue.string($0.value)) }
                    return .object(JSONObject(keys + [(key: "problem", value: .string(finding.problem))]))
                }),
        ]
    }

    private func json(_ sight: Sight) -> JSONObject {
        let word: String
        var lost: Int64 = 0
        switch verdict(sight) {
        case .none: word = "exact"
        case .inQuestion: word = "in_question"
        case .lost(let count): (word, lost) = ("lost", count)
        case .unknown: word = "unknown"
        }
        let bound: JSONValue =
            if case .queues(let queues) = broker { .integer(Int64(queues.bound(sight.check.queues))) } else { .null }
        return [
            "name": .string(sight.check.name), "proves": .string(sight.check.proves), "findings": .integer(lost),
            "verdict": .string(word), "inQuestion": .integer(sight.total), "queuedAtMost": bound,
            "examples": .array(
                sight.unseen.map { one in
                    let keys = one.keys.map { (key: $0.name, value: JSONValue.string($0.value)) }
                    return .object(
                        JSONObject(
                            keys + [
                                (key: "message", value: .string(one.message)),
                                (key: "ageSeconds", value: .integer(one.age)),
                                (key: "problem", value: .text(one.problem)),
                            ]))
                }),
        ]
    }

    private var queues: JSONValue {
        guard case .queues(let queues) = broker else { return .null }
        let sorted = queues.messages.sorted { $0.key < $1.key }
        return .object(JSONObject(sorted.map { (key: $0.key, value: .integer(Int64($0.value))) }))
    }
}
