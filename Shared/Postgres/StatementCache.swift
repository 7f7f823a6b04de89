/// Which statements a connection has prepared. A statement is known by its text and the types of its values: a value that
/// is NULL fits every type.
struct StatementCache {
    /// Most statements kept per connection. Code has some dozens of constant texts; whoever builds texts on the fly
    /// gets unprepared statements beyond this, not a server that runs out of memory.
    static let limit = 256

    private struct Prepared {
        let name: String
        let types: [UInt32]
    }

    private var known: [String: [Prepared]] = [:]
    private var count = 0
    private var lastNumber = 0

    /// What to send for a statement.
    enum Plan {
        case ready(name: String)
        case prepare(name: String, types: [UInt32])
        case unprepared
    }

    /// The plan for a text and the types of its values.
    mutating func plan(_ sql: String, _ types: [UInt32]) -> Plan {
        let variants = known[sql] ?? []
        if let found = variants.first(where: { Self.fits($0.types, types) }) { return .ready(name: found.name) }
        guard count < Self.limit else { return .unprepared }
        lastNumber += 1  // never used again, so that a name whose preparing failed cannot clash
        let name = "s\(lastNumber)"
        // A NULL says nothing about the type: take it from a variant seen before, so that few variants arise.
        let merged = types.enumerated().map { index, type in
            guard type == TypeOID.inferred else { return type }
            return variants.lazy.compactMap { $0.types.count > index ? $0.types[index] : nil }.first { $0 != 0 } ?? type
        }
        return .prepare(name: name, types: merged)
    }

    /// Remembers a statement as prepared.
    mutating func add(_ sql: String, name: String, types: [UInt32]) {
        known[sql, default: []].append(Prepared(name: name, types: types))
        count += 1
    }

    /// Forgets a statement the server did not prepare after all.
    mutating func remove(_ sql: String, name: String) {
        guard var variants = known[sql], let index = variants.firstIndex(where: { $0.name == name }) else { return }
        variants.remove(at: index)
        known[sql] = variants.isEmpty ? nil : variants
        count -= 1
    }

    /// Forgets everything: the server no longer has it, or its result types changed by a migration.
    mutating func removeAll() {
        known = [:]
        count = 0
    }

    private static func fits(_ prepared: [UInt32], _ types: [UInt32]) -> Bool {
        prepared.count == types.count && zip(prepared, types).allSatisfy { $0 == $1 || $1 == TypeOID.inferred }
    }
}
