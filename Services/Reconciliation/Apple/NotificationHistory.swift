import AppStoreServerAPI
import Messages
import Observability
import Postgres
import ServerAPIAccess

/// Reads what Apple has told one place since the last time, page by page, and finds what never came or changed nothing.
struct NotificationHistory {
    let pass: ApplePass
    let place: ServerAPIClients.Place
    let now: Int64

    private static let day: Int64 = 86_400_000

    /// How far back Apple's history reaches (ms): 180 days, 30 in the Sandbox; an hour less, for clocks that differ.
    private var reach: Int64 { (place.environment == .production ? 180 : 30) * Self.day - 3_600_000 }

    /// Reads as far as the budget goes; returns false when the thread is to end. Throws `ServerAPIError`, `RequestError`,
    /// and what the database throws.
    func read(
        _ budget: inout CallBudget, on connection: inout Connection, between: (inout Connection) throws -> Bool
    ) throws -> Bool {
        let oldest = now - reach
        let first = max(oldest, now - pass.settings.firstDays * Self.day)
        try connection.transaction {
            try AppleSliceTable.extend(place, from: first, oldest: oldest, to: now - pass.settings.delay, in: &$0)
        }
        while !budget.isUsedUp {
            guard let slice = try connection.transaction({ try AppleSliceTable.newest(place, in: &$0) }) else {
                return true
            }
            _ = budget.take()
            if slice.start < oldest {
                // A day more: what is asked must stay the same while its pages are read.
                try connection.transaction { try AppleSliceTable.cut(slice, to: oldest + Self.day, in: &$0) }
                continue
            }
            try readPage(of: slice, &connection)
            guard try between(&connection) else { return false }
        }
        return true
    }

    private func readPage(of slice: AppleSliceTable.Slice, _ connection: inout Connection) throws {
        pass.instruments.calls.increment()
        let page: NotificationPage
        do throws(ServerAPIError) {
            page = try pass.door.notifications(
                place, NotificationHistoryQuery(from: slice.start, to: slice.end), token: slice.token)
        } catch {
            guard slice.token != nil, error.isAboutToken else { throw error }
            return try connection.transaction { try AppleSliceTable.move(slice, to: nil, in: &$0) }
        }
        let notices = read(page)
        let books = try AppleBooks.read(
            notifications: notices.map(\.key),
            purchases: notices.filter(\.changesPurchases).compactMap { $0.transaction?.key }, from: pass.sources)
        var missed: [(AppleFeed, AppleNotice)] = []
        for notice in notices {
            let storedAt = books.storedAt(notice.key)
            // What came just now may still be on its way to Granting; the next pass sees it again.
            if let storedAt, storedAt > now - pass.settings.delay { continue }
            let feed = AppleFeed(notice, of: place.app, isStored: storedAt != nil)
            if books.remedy(for: feed) != .none { missed.append((feed, notice)) }
        }
        let found = missed
        let next = page.hasMore ? page.paginationToken : nil
        let opened = try connection.transaction { transaction in
            try AppleFeedTable.insert(found.map(\.0), now: now, in: &transaction)
            let opened = try FindingStore.open(
                found.map { NewFinding.notification($0, $1, now: now) }, now: now, in: &transaction)
            if let next {
                try AppleSliceTable.move(slice, to: next, in: &transaction)
            } else {
                try AppleSliceTable.end(slice, in: &transaction)
            }
            return opened
        }
        pass.instruments.notifications.increment(by: notices.count)
        pass.instruments.missed.increment(by: opened)
        if opened > 0 {
            pass.logger.error(
                "notifications of Apple are missing; they are handed in",
                ["app": .string(place.app.rawValue), "count": .int(opened)])
        }
    }

    private func read(_ page: NotificationPage) -> [AppleNotice] {
        var seen: Set<NotificationKey> = []
        let notices = page.items.compactMap { AppleNotice($0, environment: place.environment) }
        let lost = page.items.count - notices.count
        if lost > 0 {
            pass.instruments.unreadable.increment(by: lost)
            pass.logger.error("Apple's history has notifications that cannot be read", ["count": .int(lost)])
        }
        return notices.filter { seen.insert($0.key).inserted }
    }
}

extension ServerAPIError {
    /// Whether a page is asked for by a token that Apple knows no more: its slice begins anew.
    fileprivate var isAboutToken: Bool {
        guard case .refused(_, let code) = self else { return false }
        // 4000014: no such token.
        return code == .paginationTokenExpired || code?.rawValue == 4_000_014
    }
}
