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
            "checks": .array(outcomes.map { .object(Self.json($0)) } + [.object(seen)]),
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

    private var seen: JSONObject {
        let verdict: String
        var lost: Int64 = 0
        switch unseenVerdict {
        case .none: verdict = "exact"
        case .inQuestion: verdict = "in_question"
        case .lost(let count): (verdict, lost) = ("lost", count)
        case .unknown: verdict = "unknown"
        }
        let bound: JSONValue =
            if case .queues(let queues) = broker { .integer(Int64(queues.purchaseBound)) } else { .null }
        return [
            "name": .string(Self.unseenName), "proves": "every verified statement was decided on",
            "findings": .integer(lost), "verdict": .string(verdict), "inQuestion": .integer(unseenTotal),
            "queuedAtMost": bound,
            "examples": .array(
                unseen.map {
                    [
                        "environment": .string($0.environment), "transaction_id": .string($0.transactionID),
                        "message": .string($0.message), "ageSeconds": .integer($0.age),
                    ]
                }),
        ]
    }

    private var queues: JSONValue {
        guard case .queues(let queues) = broker else { return .null }
        let sorted = queues.messages.sorted { $0.key < $1.key }
        return .object(JSONObject(sorted.map { (key: $0.key, value: .integer(Int64($0.value))) }))
    }
}
