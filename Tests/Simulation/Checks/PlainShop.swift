import Messages

@testable import Granting

/// The rules once more, written for reading: one message at a time, wallets as plain lists, nothing loaded or saved.
/// What commits must be what this says when told the same messages in the order of the commits.
struct PlainShop {
    /// A part of a wallet.
    struct Pile: Equatable {
        var from: TransactionKey
        var asset: AssetID
        var granted: Int64
        var left: Int64
        var isFrozen = false
    }
    struct Take {
        var pile: Int
        var amount: Int64
    }
    struct Granted {
        var user: UserID
        var cause: MessageID
        var share: Int64 = 0
        var takes: [AssetID: [Take]] = [:]
        var debts: [AssetID: Int64] = [:]
        var repaid: [AssetID: [Take]] = [:]
        var revisions = 0
    }
    /// A purchase as far as it is known.
    struct Known {
        var newest: VerifiedTransaction
        var owner: UserID?
        var order: OrderNumber?
        var isHeld: HeldReason?
        var submitter: UserID?
    }
    struct KnownOrder {
        var user: UserID
        var product: ProductID
        var token: String
        /// How many had committed before it.
        var after: Int
        var isDelivered = false
    }

    private(set) var known: [TransactionKey: Known] = [:]
    private(set) var grants: [TransactionKey: Granted] = [:]
    private(set) var piles: [UserID: [Pile]] = [:]
    private var orders: [OrderNumber: KnownOrder] = [:]
    private var spends: [String: (amount: Int64, word: String)] = [:]
    private var hasImported = false

    /// Answers an order request in a word.
    mutating func order(_ request: OrderRequested, after commits: Int) -> String {
        if let found = orders[request.orderNumber] {
            return found.user == request.userID ? request.orderNumber.rawValue : "PURCHASE_PENDING"
        }
        orders[request.orderNumber] = KnownOrder(
            user: request.userID, product: request.productID, token: request.appAccountToken, after: commits)
        return request.orderNumber.rawValue
    }

    /// Answers a spend.
    mutating func spend(_ request: SpendRequested, at now: Int64) -> String {
        let id = "\(request.userID) \(request.sourceID)"
        if let old = spends[id] { return old.amount == request.amount ? old.word : "SPEND_CONFLICT" }
        let word = decide(request, at: now)
        spends[id] = (request.amount, word)
        return word
    }

    private mutating func decide(_ request: SpendRequested, at now: Int64) -> String {
        let user = request.userID
        if now > request.deadline { return "SPEND_DEADLINE_PASSED \(balance(user, request.asset))" }
        let usable = (piles[user] ?? []).indices.filter {
            piles[user]?[$0].asset == request.asset && piles[user]?[$0].isFrozen == false
        }
        let total = usable.reduce(Int64(0)) { $0 + (piles[user]?[$1].left ?? 0) }
        if total < request.amount { return "BALANCE_NOT_ENOUGH \(balance(user, request.asset))" }
        var missing = request.amount
        for index in usable {
            let part = min(missing, piles[user]?[index].left ?? 0)
            piles[user]?[index].left -= part
            missing -= part
        }
        return "spent \(balance(user, request.asset))"
    }

    /// A catalogue with the late product comes into force, once.
    mutating func importCatalog() { hasImported = true }

    /// Decides a held purchase anew, as it was found when the re-drive began.
    mutating func redrive(
        _ found: Purchase?, for user: UserID?, cause: MessageID, seeing open: Database.OpenTransaction
    ) -> String {
        guard let found, found.heldReason != nil else { return "-" }
        let order = found.owner == nil ? found.submittedOrder : nil
        return buy(found.statement, user: user, order: order, cause: cause, seeing: open)
    }

    /// Hears what Apple tells. What speaks of a purchase may deliver it; the rest reaches only whoever it is bound to.
    mutating func tell(
        _ notification: NotificationVerified, cause: MessageID, seeing open: Database.OpenTransaction
    ) {
        guard let statement = notification.transaction else { return }
        if ["ONE_TIME_CHARGE", "REFUND_REVERSED"].contains(notification.notificationType) {
            _ = buy(statement, user: nil, order: nil, cause: cause, seeing: open)
            return
        }
        let key = statement.key
        let isNews = learn(statement)
        if grants[key] != nil {
            // A token that turns up counts here too.
            _ = buy(statement, user: nil, order: nil, cause: cause, seeing: open)
        } else if isNews, let known = known[key] {
            _ = refuse("", nil, isNews, known, cause)
        }
    }

    /// Answers a purchase. Orders that were made while its transaction ran it may have seen or not.
    mutating func buy(
        _ statement: VerifiedTransaction, user: UserID?, order number: OrderNumber?, cause: MessageID,
        seeing open: Database.OpenTransaction
    ) -> String {
        let key = statement.key
        let isNews = learn(statement)
        guard let known = known[key] else { return "?" }
        let now = known.newest
        let token = orders.first { _, order in
            order.token == now.appAccountToken && (order.after < open.begunAfter || open.tokens.contains(order.token))
        }
        if let granted = grants[key] {
            if let foreign = token?.value.user, foreign != granted.user { freeze(key, granted.user) }
            adjust(key)
            guard let user else { return "-" }
            if user != granted.user { return "TRANSACTION_ALREADY_BOUND_TO_OTHER_USER" }
            if now.revokedShare == 100_000 { return "TRANSACTION_ALREADY_REVOKED" }
            return granted.cause == cause ? "granted" : "already_granted"
        }
        if let user, let owner = known.owner, owner != user {
            return refuse("TRANSACTION_ALREADY_BOUND_TO_OTHER_USER", user, isNews, known, cause)
        }
        if let number, let code = mismatch(number, known, user, open) {
            return refuse(code, user, isNews, known, cause)
        }
        guard let owner = token?.value.user ?? number.flatMap({ orders[$0]?.user }) ?? known.owner ?? user else {
            return "-"
        }
        if let user, user != owner {
            return refuse("TRANSACTION_ALREADY_BOUND_TO_OTHER_USER", user, isNews, known, cause)
        }
        let order = number ?? token?.key ?? (known.owner == nil ? nil : known.order)
        let word = deliver(key, owner, order, caller: user, named: number, cause)
        return user == nil ? "-" : word
    }

    private func mismatch(
        _ number: OrderNumber, _ known: Known, _ user: UserID?, _ open: Database.OpenTransaction
    ) -> String? {
        guard let order = orders[number], order.after < open.begunAfter || open.orders.contains(number) else {
            return "ORDER_NOT_FOUND"
        }
        if let claimant = user ?? known.owner, order.user != claimant { return "ORDER_USER_MISMATCH" }
        if order.product != known.newest.productID { return "ORDER_PRODUCT_MISMATCH" }
        if let token = known.newest.appAccountToken, token != order.token { return "APP_ACCOUNT_TOKEN_MISMATCH" }
        return nil
    }

    /// The caller gets nothing; news still reach whoever it was bound to before.
    private mutating func refuse(
        _ code: String, _ user: UserID?, _ isNews: Bool, _ known: Known, _ cause: MessageID
    ) -> String {
        if isNews, let owner = known.owner {
            _ = deliver(known.newest.key, owner, known.order, caller: user, named: nil, cause)
        }
        return user == nil ? "-" : code
    }

    private mutating func learn(_ statement: VerifiedTransaction) -> Bool {
        guard let old = known[statement.key]?.newest else {
            known[statement.key] = Known(newest: statement)
            return true
        }
        let isNewer =
            (statement.signedDate, statement.revokedShare, statement.payloadHash)
            > (old.signedDate, old.revokedShare, old.payloadHash)
        var winner = isNewer ? statement : old
        winner.appAccountToken = winner.appAccountToken ?? statement.appAccountToken ?? old.appAccountToken
        known[statement.key]?.newest = winner
        return isNewer
    }

    private mutating func deliver(
        _ key: TransactionKey, _ user: UserID, _ order: OrderNumber?, caller: UserID?, named: OrderNumber?,
        _ cause: MessageID
    ) -> String {
        guard var known = known[key] else { return "?" }
        defer { self.known[key] = known }
        let now = known.newest
        known.isHeld = nil
        if now.revokedShare < 100_000, now.environment == .sandbox, !hasImported, user.rawValue != "alice" {
            known.isHeld = .sandboxPolicy
            if caller == user { (known.submitter, known.order) = (user, named) }
            return "SANDBOX_NOT_ALLOWED"
        }
        (known.owner, known.order) = (user, order)
        if now.revokedShare == 100_000 { return "TRANSACTION_ALREADY_REVOKED" }
        if now.productID == Story.late, !hasImported {
            known.isHeld = .unknownProduct
            return "UNKNOWN_APPLE_PRODUCT_ID"
        }
        grants[key] = Granted(user: user, cause: cause)
        for part in Story.amounts[now.productID] ?? [] {
            let total = part.amount * now.quantity
            piles[user, default: []].append(Pile(from: key, asset: part.asset, granted: total, left: total))
        }
        if let order, orders[order]?.product == now.productID { orders[order]?.isDelivered = true }
        adjust(key)
        return "granted"
    }

    private func balance(_ user: UserID, _ asset: AssetID) -> Int64 {
        (piles[user] ?? []).filter { $0.asset == asset }.reduce(0) { $0 + $1.left }
    }

    private mutating func freeze(_ key: TransactionKey, _ user: UserID) {
        for index in (piles[user] ?? []).indices where piles[user]?[index].from == key {
            piles[user]?[index].isFrozen = true
        }
    }

    /// Takes or gives back the difference to what the revoked share asks for.
    private mutating func adjust(_ key: TransactionKey) {
        guard var granted = grants[key], let share = known[key]?.newest.revokedShare, share != granted.share,
            var mine = piles[granted.user]
        else { return }
        for own in mine.indices where mine[own].from == key {
            let (asset, total) = (mine[own].asset, mine[own].granted)
            var difference = total * share / 100_000 - total * granted.share / 100_000
            let others = mine.indices.filter {
                $0 != own && mine[$0].asset == asset && mine[$0].from.environment == key.environment
            }
            for index in [own] + others where difference > 0 {
                guard index == own || !mine[index].isFrozen else { continue }
                let part = min(difference, mine[index].left)
                mine[index].left -= part
                if part > 0 { granted.takes[asset, default: []].append(Take(pile: index, amount: part)) }
                difference -= part
            }
            if difference > 0 { granted.debts[asset, default: 0] += difference }
            guard difference < 0 else { continue }
            let forgiven = min(-difference, granted.debts[asset] ?? 0)
            granted.debts[asset, default: 0] -= forgiven
            difference += forgiven
            var filled = Self.giveBack(&difference, &granted.repaid[asset, default: []], &mine)
            filled += Self.giveBack(&difference, &granted.takes[asset, default: []], &mine)
            settle(key, granted.user, asset, filled, &mine)
        }
        granted.share = share
        granted.revisions += 1
        grants[key] = granted
        piles[granted.user] = mine
    }

    /// Puts back what was taken, the last first; returns what went where.
    private static func giveBack(_ difference: inout Int64, _ takes: inout [Take], _ piles: inout [Pile]) -> [Take] {
        var filled: [Take] = []
        while difference < 0, var last = takes.popLast() {
            let part = min(-difference, last.amount)
            piles[last.pile].left += part
            filled.append(Take(pile: last.pile, amount: part))
            last.amount -= part
            difference += part
            if last.amount > 0 { takes.append(last) }
        }
        return filled
    }

    /// What came back pays what is still owed for other purchases.
    private mutating func settle(
        _ key: TransactionKey, _ user: UserID, _ asset: AssetID, _ filled: [Take], _ mine: inout [Pile]
    ) {
        var budget = filled.reduce(0) { $0 + $1.amount }
        for debtor in grants.keys.sorted() where debtor != key && debtor.environment == key.environment {
            guard var other = grants[debtor], other.user == user, let owed = other.debts[asset] else { continue }
            var rest = min(owed, budget)
            for take in filled where rest > 0 && !mine[take.pile].isFrozen {
                let part = min(rest, mine[take.pile].left)
                mine[take.pile].left -= part
                if part > 0 { other.repaid[asset, default: []].append(Take(pile: take.pile, amount: part)) }
                rest -= part
                budget -= part
                other.debts[asset, default: 0] -= part
            }
            grants[debtor] = other
        }
    }
}
