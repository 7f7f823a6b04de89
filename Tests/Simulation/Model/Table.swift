/// A table of the model: committed rows, and what the one transaction that holds a row has made of it.
struct Table<Key: Hashable, Row> {
    /// A row in both states.
    struct Cell {
        /// What everybody sees; nil if nothing is committed.
        var committed: Row?
        /// What its holder has written.
        var pending: Row?
        /// Whether its holder has deleted it.
        var isDeleted = false
        /// The transaction that holds the row's lock; 0 = nobody.
        var holder = 0
    }

    /// All rows, also those only their holder sees.
    private(set) var cells: [Key: Cell] = [:]
    private var touched: [Int: [Key]] = [:]

    /// The row as `transaction` sees it now: its own writes, else what is committed.
    func row(_ key: Key, for transaction: Int) -> Row? { cells[key].flatMap { Self.row($0, for: transaction) } }

    /// All rows that `transaction` sees now.
    func rows(for transaction: Int) -> [Row] { cells.values.compactMap { Self.row($0, for: transaction) } }

    /// All keys of rows that `transaction` sees now.
    func keys(for transaction: Int) -> [Key] {
        cells.compactMap { Self.row($0.value, for: transaction) == nil ? nil : $0.key }
    }

    /// What is committed.
    var committed: [Row] { cells.values.compactMap { $0.committed } }

    /// Takes the row's lock, whether the row is there or about to be. Returns who holds it, if somebody else does.
    mutating func take(_ key: Key, for transaction: Int) -> Int? {
        let holder = cells[key]?.holder ?? 0
        guard holder != transaction else { return nil }
        guard holder == 0 else { return holder }
        cells[key, default: Cell()].holder = transaction
        touched[transaction, default: []].append(key)
        return nil
    }

    /// Writes a row whose lock `transaction` holds.
    mutating func write(_ row: Row, at key: Key) {
        cells[key, default: Cell()].pending = row
        cells[key, default: Cell()].isDeleted = false
    }

    /// Deletes a row whose lock is held.
    mutating func delete(_ key: Key) {
        cells[key]?.pending = nil
        cells[key]?.isDeleted = true
    }

    /// How many rows `transaction` holds: a place to roll back to.
    func mark(of transaction: Int) -> Int { touched[transaction]?.count ?? 0 }

    /// Makes what `transaction` wrote everybody's, or drops it, and gives its locks up.
    mutating func end(_ transaction: Int, commits: Bool) {
        guard let keys = touched.removeValue(forKey: transaction) else { return }
        for key in keys { release(key, commits: commits) }
    }

    /// Drops what `transaction` did since a mark.
    mutating func rollBack(_ transaction: Int, to mark: Int) {
        guard let keys = touched[transaction], keys.count > mark else { return }
        for key in keys[mark...] { release(key, commits: false) }
        touched[transaction] = Array(keys[..<mark])
    }

    private mutating func release(_ key: Key, commits: Bool) {
        guard var cell = cells[key] else { return }
        if commits, cell.isDeleted { cell.committed = nil }
        if commits, let pending = cell.pending { cell.committed = pending }
        cell.pending = nil
        cell.isDeleted = false
        cell.holder = 0
        cells[key] = cell.committed == nil ? nil : cell
    }

    private static func row(_ cell: Cell, for transaction: Int) -> Row? {
        guard cell.holder == transaction else { return cell.committed }
        return cell.isDeleted ? nil : cell.pending ?? cell.committed
    }
}

/// A table that is only ever appended to.
struct Journal<Row> {
    /// What everybody sees, in the order of commits.
    private(set) var committed: [Row] = []
    private var pending: [Int: [Row]] = [:]

    /// What a transaction sees: everybody's rows and its own.
    func rows(for transaction: Int) -> [Row] { committed + (pending[transaction] ?? []) }

    /// Appends.
    mutating func append(_ row: Row, for transaction: Int) { pending[transaction, default: []].append(row) }

    /// Makes what `transaction` appended everybody's, or drops it.
    mutating func end(_ transaction: Int, commits: Bool) {
        if let rows = pending.removeValue(forKey: transaction), commits { committed += rows }
    }
}
