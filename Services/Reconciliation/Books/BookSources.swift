import Messages

/// Whom the comparison of wallets and purchases asks: Granting. All throw `RequestError`.
protocol BookSources: Sendable {
    /// Whether the books of a page of customers agree.
    func books(after: CustomerID?, limit: Int64) throws -> BooksPageAnswered
    /// What became of purchases, with the books' own account of each.
    func details(of keys: [PurchaseKey]) throws -> [PurchaseState]
}

extension BookSources {
    /// Details by purchase, asked for in as many questions as are needed.
    func allDetails(of keys: [PurchaseKey]) throws -> [PurchaseKey: PurchaseState] {
        try PurchaseState.collect(keys) { try details(of: $0) }
    }
}

extension BrokerSources {
    func books(after: CustomerID?, limit: Int64) throws -> BooksPageAnswered {
        try ask(BooksPageRequested(after: after, limit: limit), expecting: BooksPageAnswered.self)
    }

    func details(of keys: [PurchaseKey]) throws -> [PurchaseState] {
        guard !keys.isEmpty else { return [] }
        return try ask(
            PurchaseStatesRequested(keys: keys, withDetails: true), expecting: PurchaseStatesAnswered.self
        ).states
    }
}
