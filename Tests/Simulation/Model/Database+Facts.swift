import Messages
import Pipeline

/// `facts` and `unannounced`.
extension Database {
    /// `INSERT … ON CONFLICT DO NOTHING`. Nil while it waits, else how many were new.
    func insert(_ new: [Fact], for transaction: Int, _ progress: inout Progress, _ count: inout Int) -> Bool {
        while progress.index < new.count {
            let fact = new[progress.index]
            if facts.cells[fact.id]?.committed == nil {
                if let holder = facts.take(fact.id, for: transaction) {
                    wait(transaction, for: [holder])
                    return false
                }
                if facts.row(fact.id, for: transaction) == nil {
                    facts.write(FactRow(sequence: nextNumber(), fact: fact), at: fact.id)
                    count += 1
                }
            }
            progress.index += 1
        }
        return true
    }

    /// One row for a batch.
    func announce(_ identifiers: [MessageID], for transaction: Int) -> Int64 {
        let id = Int64(nextNumber())
        _ = unannounced.take(id, for: transaction)
        unannounced.write(Unannounced(id: id, facts: identifiers, createdAt: now), at: id)
        return id
    }

    /// Deletes rows, waiting for whoever deletes the same.
    func retire(_ rows: [Int64], for transaction: Int, _ progress: inout Progress) -> Bool {
        while progress.index < rows.count {
            let id = rows[progress.index]
            if unannounced.cells[id] != nil {
                if let holder = unannounced.take(id, for: transaction) {
                    wait(transaction, for: [holder])
                    return false
                }
                unannounced.delete(id)
            }
            progress.index += 1
        }
        return true
    }

    /// The facts of messages, or by their ids, in the order they were stored.
    func recall(for transaction: Int, where isWanted: (Fact) -> Bool) -> [Fact] {
        facts.rows(for: transaction).filter { isWanted($0.fact) }.sorted { $0.sequence < $1.sequence }.map(\.fact)
    }

    /// Batches that stayed unannounced for so many seconds.
    func stale(afterSeconds seconds: Int64) -> [Unannounced] {
        unannounced.committed.filter { $0.createdAt < now - seconds * 1_000 }.sorted { $0.id < $1.id }
    }
}
