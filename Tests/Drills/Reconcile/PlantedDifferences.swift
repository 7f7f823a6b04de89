/// What was broken, and which findings must tell of it. Pure.
struct PlantedDifferences: Sendable {
    /// How something is broken.
    enum Kind: String, CaseIterable, Sendable {
        case lostSubmission = "lost submission"
        case lostRefund = "lost refund"
        case doubledLine = "doubled ledger row"
        case wrongBalance = "wrong balance"
        case orderBehind = "missing order update"
        case salesOffByOne = "sales report off by one"

        /// Whether the services mend it; else a case stays open.
        var isRepairable: Bool { self == .lostSubmission || self == .lostRefund }
    }

    /// A case as the database has it.
    struct Case: Sendable, Equatable {
        let kind: String
        /// The purchase, or else what it is about.
        let subject: String
        let state: String
    }

    /// How a kind came out.
    struct Result: Sendable, Equatable {
        let kind: Kind
        var planted = 0
        var findings = 0
        var found = 0
        var repaired = 0
        var open = 0

        /// Every one found, and repaired or open as it must be.
        var isRight: Bool {
            found == planted && (kind.isRepairable ? repaired == planted && open == 0 : open == planted)
        }
    }

    private struct Key: Hashable {
        let kind: String
        let subject: String
    }

    private struct One {
        let kind: Kind
        let findings: [Key]
    }

    private var all: [One] = []

    /// Notes one. All of the findings, as (kind, subject), must be there.
    mutating func add(_ kind: Kind, _ findings: (kind: String, subject: String)...) {
        all.append(One(kind: kind, findings: findings.map { Key(kind: $0.kind, subject: $0.subject) }))
    }

    /// How it came out, and the cases that nobody planted: a second one about the same is such a case, too.
    func compare(_ cases: [Case]) -> (results: [Result], false: [Case]) {
        var states: [Key: String] = [:]
        let expected = Set(all.flatMap(\.findings))
        var wrong: [Case] = []
        for one in cases {
            let key = Key(kind: one.kind, subject: one.subject)
            if expected.contains(key), states[key] == nil { states[key] = one.state } else { wrong.append(one) }
        }
        let results = Kind.allCases.map { kind in
            all.filter { $0.kind == kind }.reduce(into: Result(kind: kind)) { result, one in
                let found = one.findings.compactMap { states[$0] }
                result.planted += 1
                result.findings += found.count
                guard found.count == one.findings.count else { return }
                result.found += 1
                if found.allSatisfy({ $0 == "resolved" }) { result.repaired += 1 }
                if found.allSatisfy({ $0 == "open" || $0 == "redriven" }) { result.open += 1 }
            }
        }
        return (results, wrong)
    }
}
