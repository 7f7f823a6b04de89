import AppStoreServerAPI
import Messages
import Observability
import Postgres
import ServerAPIAccess

/// Asks Apple what was refunded to those who bought recently, one after the other in turn, and finds refunds that
/// Granting does not know: what no notification told, and no history of them.
struct RefundHistory {
    let pass: ApplePass
    let place: ServerAPIClients.Place
    let now: Int64

    /// Pages of one account in one turn: whoever has more goes on in the next, and the others are not kept waiting.
    private static let pages = 10
    private static let day: Int64 = 86_400_000

    /// From when on who bought is asked about (ms since 1970).
    private var since: Int64 { now - pass.settings.refundDays * Self.day }

    /// Asks as far as the budget goes; returns false when the thread is to end. Throws `ServerAPIError`, `RequestError`,
    /// and what the database throws.
    func read(
        _ budget: inout CallBudget, on connection: inout Connection, between: (inout Connection) throws -> Bool
    ) throws -> Bool {
        guard pass.settings.refundDays > 0, !budget.isUsedUp else { return true }
        let accounts = try connection.transaction {
            try AppleAccountTable.due(place, since: since, now: now, limit: budget.calls, in: &$0)
        }
        for account in accounts {
            var revision = account.revision
            for page in 1...Self.pages {
                guard budget.take() else { return true }
                let next = try readPage(account, from: revision, isLast: page == Self.pages, &connection)
                guard try between(&connection) else { return false }
                guard case .page(let place) = next else { break }
                revision = place
            }
        }
        return true
    }

    /// Seconds that the recent buyer who has waited longest is past their turn.
    func wait(on connection: inout Connection) throws -> Double {
        guard pass.settings.refundDays > 0 else { return 0 }
        let first = try connection.transaction {
            try AppleAccountTable.longestWait(place, since: since, now: now, in: &$0)
        }
        return first.map { Double(max(0, now - $0)) / 1_000 } ?? 0
    }

    /// A refund that Granting does not know.
    private struct Missed {
        let feed: AppleFeed
        let finding: NewFinding
        /// Whatever was signed from here on knows of it, too (ms since 1970).
        let since: Int64
    }

    /// What follows a page.
    private enum Next {
        /// Another one, from a revision; nil: from the beginning.
        case page(from: String?)
        /// Somebody else's turn.
        case account
    }

    private func readPage(
        _ account: AppleAccountTable.Account, from revision: String?, isLast: Bool, _ connection: inout Connection
    ) throws -> Next {
        pass.instruments.calls.increment()
        let page: TransactionPage
        do throws(ServerAPIError) {
            page = try pass.door.refunds(place, of: account.transactionID, revision: revision)
        } catch {
            return try refused(error, account, revision, &connection)
        }
        let statements = read(page)
        let books = try AppleBooks.read(
            notifications: [], purchases: statements.map(\.statement.key), from: pass.sources)
        var missed: [Missed] = []
        var isTooEarly = false
        for (statement, payload) in statements {
            // What was refunded just now may still be on its way by a notification: it is read again in the next turn.
            guard statement.revocationDate ?? 0 <= now - pass.settings.delay else {
                isTooEarly = true
                continue
            }
            let feed = AppleFeed(.refundMissed, statement, signed: payload, of: place.app)
            guard books.remedy(for: feed) != .none else { continue }
            let state = books.state(statement.key)
            missed.append(
                Missed(
                    feed: feed, finding: .refund(feed, statement, state, bundleID: place.bundleID),
                    since: statement.revocationDate ?? statement.signedDate))
        }
        let goesOn = page.hasMore && !isTooEarly && page.revision != nil && page.revision != revision
        let kept = isTooEarly ? revision : page.revision ?? revision
        try keep(missed, account, kept, isOver: !goesOn || isLast, isTooEarly, &connection)
        pass.instruments.refunds.increment(by: statements.count)
        return goesOn ? .page(from: kept) : .account
    }

    /// Keeps what a page brought and where the next one begins, together.
    private func keep(
        _ found: [Missed], _ account: AppleAccountTable.Account, _ revision: String?, isOver: Bool,
        _ isTooEarly: Bool, _ connection: inout Connection
    ) throws {
        let pause = isTooEarly ? min(pass.settings.delay, pass.settings.accountPause) : pass.settings.accountPause
        // Who is in the middle of a list goes on first, also after a crash.
        let next = isOver ? now + pause : account.turn
        let opened = try connection.transaction { transaction in
            let told = try AppleFeedTable.told(found.map { ($0.feed, $0.since) }, in: &transaction)
            let missed = found.filter { !told.contains($0.feed.subject) }
            try AppleFeedTable.insert(missed.map(\.feed), now: now, in: &transaction)
            let opened = try FindingStore.open(missed.map(\.finding), now: now, in: &transaction)
            try AppleAccountTable.move(account, of: place, to: revision, next: next, in: &transaction)
            return opened
        }
        if isOver { pass.instruments.accounts.increment() }
        pass.instruments.missed.increment(by: opened)
        if opened > 0 {
            pass.logger.error(
                "refunds of Apple are missing; they are handed in",
                ["app": .string(place.app.rawValue), "count": .int(opened)])
        }
    }

    /// What an error means for whose turn it is: an account that Apple does not know keeps nobody else waiting.
    private func refused(
        _ error: ServerAPIError, _ account: AppleAccountTable.Account, _ revision: String?,
        _ connection: inout Connection
    ) throws -> Next {
        if revision != nil, error.isAboutRevision {
            try move(account, to: nil, next: account.turn, &connection)
            return .page(from: nil)
        }
        if error.concernsArgument {
            pass.instruments.failures(error.code).increment()
            pass.logger.warning(
                "Apple does not tell what was refunded to a buyer",
                [
                    "app": .string(place.app.rawValue), "transaction.id": .string(account.transactionID.rawValue),
                    "error": .string("\(error)"),
                ])
            try move(account, to: revision, next: now + pass.settings.accountPause, &connection)
            return .account
        }
        if case .rateLimited = error { throw error }
        // Behind all who wait: if it is this one that Apple fails at, the others are asked about next time.
        if !error.concernsKey { try move(account, to: revision, next: now + 1, &connection) }
        throw error
    }

    private func move(
        _ account: AppleAccountTable.Account, to revision: String?, next: Int64, _ connection: inout Connection
    ) throws {
        try connection.transaction {
            try AppleAccountTable.move(account, of: place, to: revision, next: next, in: &$0)
        }
    }

    /// The refunds of a page, each with its signed text; the newest statement of each.
    private func read(_ page: TransactionPage) -> [(statement: AppleStatement, payload: String)] {
        var newest: [PurchaseKey: (statement: AppleStatement, payload: String)] = [:]
        var lost = 0
        for payload in page.signedTransactions {
            guard let statement = AppleStatement(payload), statement.key.environment == place.environment else {
                lost += 1
                continue
            }
            guard statement.revocationDate != nil else { continue }
            if let known = newest[statement.key], known.statement.signedDate >= statement.signedDate { continue }
            newest[statement.key] = (statement, payload)
        }
        if lost > 0 {
            pass.instruments.unreadable.increment(by: lost)
            pass.logger.error("Apple's list of refunds has some that cannot be read", ["count": .int(lost)])
        }
        return newest.values.sorted { $0.statement.signedDate < $1.statement.signedDate }
    }
}

extension ServerAPIError {
    /// Whether it is what was asked about that Apple does not know or want, not the app and not the moment.
    var concernsArgument: Bool {
        switch self {
        case .invalidArgument: true
        case .refused(let status, _): !concernsKey && (400..<500).contains(status) && status != 429
        default: false
        }
    }

    /// Whether a list is asked for from a place that Apple knows no more: it is read from its beginning.
    var isAboutRevision: Bool {
        // 4000005: no such revision.
        if case .refused(_, let code) = self { return code?.rawValue == 4_000_005 }
        return false
    }
}
