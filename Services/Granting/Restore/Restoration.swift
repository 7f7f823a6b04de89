import Messages
import Observability
import Pipeline
import Postgres

/// Applies facts of the stream that the database lacks, in the order in which they were told.
///
/// What one message brought about is applied whole or not at all, and only if every balance it names comes out. What does
/// not fit yet waits for what is read after it: two lanes may have told their facts the other way round than they decided.
/// Every step is a transaction; a restoration that was broken off goes on where it was, because facts that are stored are
/// passed over.
struct Restoration: ~Copyable {
    private var connection: Connection
    private var pending: [StreamedFact] = []
    private var waiting: Set<MessageID> = []
    /// Of `pending`, how many have not been tried.
    private var unread = 0
    private(set) var report = RestoreReport()

    private let batchLimit: Int
    private let probe: RestoreProbe

    /// New facts that are applied in one transaction: some 50 ms of database.
    static let usualLimit = 500

    /// Takes the lock that keeps decisions out. Throws ``Refused`` while lanes of the service are at work.
    static func begin(
        _ login: Secret, batchLimit: Int = usualLimit, probe: @escaping RestoreProbe = { _ in }
    ) throws -> Restoration {
        var connection = try Connection.open(login, applicationName: "purser-granting restore")
        let lanes = try connection.query(RestoreTables.lanes.sql, RestoreTables.lanes.values).single().int8("count")
        guard lanes == 0 else {
            throw Refused(reason: "\(lanes) lanes of purser-granting are at work: stop every copy of it first")
        }
        _ = try connection.query(RestoreTables.lock.sql, RestoreTables.lock.values)
        return Restoration(connection: connection, batchLimit: batchLimit, probe: probe)
    }

    private init(connection: consuming Connection, batchLimit: Int, probe: @escaping RestoreProbe) {
        self.connection = connection
        self.batchLimit = batchLimit
        self.probe = probe
    }

    /// It may not begin.
    struct Refused: Error { let reason: String }

    /// Takes in what was read next; `unreadable` messages were no facts.
    mutating func take(_ facts: [StreamedFact], unreadable: Int) throws {
        report.read += facts.count + unreadable
        report.unreadable += unreadable
        guard !facts.isEmpty else { return }
        let stored = Set(
            try connection.transaction { transaction in
                let known = RestoreTables.known(facts)
                return try transaction.query(known.sql, known.values).map { row -> MessageID in try row.id("id") }
            })
        for fact in facts where !stored.contains(fact.header.id) && waiting.insert(fact.header.id).inserted {
            pending.append(fact)
            unread += 1
            report.missing += 1
            // What did not fit a moment ago is tried with what came after it; what is older, at the end.
            if unread >= batchLimit { try apply(max(0, pending.count - 4 * batchLimit)..<pending.count) }
        }
    }

    /// Applies whatever fits, until nothing more does.
    mutating func finish() throws {
        var before = pending.count + 1
        while pending.count < before {
            before = pending.count
            var end = pending.count
            // From behind, so that the places of what is still to be looked at stay.
            while end > 0 {
                let start = max(0, end - 4 * batchLimit)
                try apply(start..<end)
                end = start
            }
        }
        let rivals = RestoreTables.rivals
        let customers = try connection.query(rivals.sql, rivals.values).map { row -> CustomerID in
            try row.id("customer")
        }
        report.rivals = customers.map(\.rawValue).sorted()
        connection.close()
    }

    /// One transaction. What is left waits with the reason for which it did not fit.
    private mutating func apply(_ range: Range<Int>) throws {
        unread = 0
        guard !range.isEmpty else { return }
        let facts = Array(pending[range])
        let probe = self.probe
        let outcome = try connection.transaction { transaction in
            let outcome = try RestoreBatch(facts).apply(in: &transaction)
            try probe(.applied)
            return outcome
        }
        try probe(.committed)
        let applied = Set(outcome.applied.map(\.header.id))
        pending.removeAll { applied.contains($0.header.id) }
        waiting.subtract(applied)
        report.add(outcome)
    }
}

/// The places at which a restoration may die.
enum RestorePoint: CaseIterable, Sendable {
    /// Some facts are put back, and nothing is committed.
    case applied
    /// They are committed.
    case committed
}

/// Watches the places; production lets everything pass, tests throw from it.
typealias RestoreProbe = @Sendable (RestorePoint) throws -> Void

/// What a restoration came to.
struct RestoreReport {
    /// Messages of the stream.
    var read = 0
    /// Of these, no facts of this service.
    var unreadable = 0
    /// Facts that the database lacked.
    var missing = 0
    /// What was put back, by type.
    private(set) var applied: [String: Int] = [:]
    /// What could not be: key and reason, by fact.
    private(set) var left: [MessageID: String] = [:]
    /// Customers that came back, and how many of them nobody can be recognised as.
    private(set) var customers = 0
    private(set) var nameless = 0
    /// Customers whose user has got another wallet meanwhile.
    var rivals: [String] = []

    /// Takes over what a transaction came to.
    mutating func add(_ outcome: RestoreBatch.Outcome) {
        for fact in outcome.applied {
            applied[fact.header.type.rawValue, default: 0] += 1
            left[fact.header.id] = nil
        }
        for (fact, reason) in outcome.left {
            left[fact.header.id] = "\(fact.header.type.rawValue) \(fact.key): \(reason)"
        }
        customers += outcome.customers
        nameless += outcome.nameless
    }

    /// 0: whatever was missing is back; 1: something is left for a person.
    var exitCode: Int32 { left.isEmpty && rivals.isEmpty && unreadable == 0 ? 0 : 1 }

    /// For people; ids, no personal data.
    var lines: [String] {
        var lines = ["\(read) messages of the stream read, \(missing) facts were missing"]
        lines += applied.sorted { $0.key < $1.key }.map { "  put back: \($0.value) \($0.key)" }
        if customers > 0 { lines.append("\(customers) customers came back; they are recognised by their next call") }
        if nameless > 0 { lines.append("\(nameless) of them are recognised by their tokens only") }
        if unreadable > 0 { lines.append("\(unreadable) messages are no facts of this service: who says them?") }
        lines += left.values.sorted().map { "LEFT  \($0)" }
        lines += rivals.map { "LEFT  customer \($0): their user has another wallet, made before this restoration" }
        lines.append(exitCode == 0 ? "complete: the service may start" : "not complete: see above, then run it again")
        return lines
    }
}
