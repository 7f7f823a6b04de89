import Messages

/// The rules once more, written for reading: one message at a time, no working set, no changes to save, wallets as plain
/// lists. What production code decides must be what this says.
struct NaiveShop {
    /// A part of a wallet.
    struct Pile: Equatable {
        var from: TransactionID
        var environment: StoreEnvironment
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
        var user: String
        var cause: MessageID
        var share: Int64 = 0
        var takes: [AssetID: [Take]] = [:]
        var debts: [AssetID: Int64] = [:]
        var repaid: [AssetID: [Take]] = [:]
    }
    struct KnownOrder {
        var user: String
        var product: ProductID
        var token: String
        var isDelivered = false
    }

    var newest: [String: VerifiedTransaction] = [:]
    var owners: [String: String] = [:]
    var grants: [String: Granted] = [:]
    var orders: [OrderNumber: KnownOrder] = [:]
    var orderOfOwner: [String: OrderNumber] = [:]
    /// Purchases that have settled an order.
    var settled: Set<String> = []
    /// Purchases of what is owned for ever already, and how many of them were delivered in the end.
    var waiting: Set<String> = []
    var releases = 0
    var piles: [String: [Pile]] = [:]
    var spends: [String: (amount: Int64, word: String)] = [:]

    func balance(_ user: String, _ asset: AssetID) -> Int64 {
        (piles[user] ?? []).filter { $0.asset == asset }.reduce(0) { $0 + $1.left }
    }

    /// What the message is answered, in a word.
    mutating func handle(_ step: RandomHistory.Step) -> String {
        switch step.event {
        case .order(let number, let token, let product, let user):
            if orders[number] != nil { return number.rawValue }
            if product == Shop.minutes60 { return "UNKNOWN_APPLE_PRODUCT_ID" }
            orders[number] = KnownOrder(user: user, product: product, token: token)
            return number.rawValue
        case .spend(let user, let amount, let id):
            if let old = spends[user + id] { return old.amount == amount ? old.word : "SPEND_CONFLICT" }
            let word = spend(user, amount)
            spends[user + id] = (amount, word)
            return word
        case .purchase(let statement, let user, let order):
            return purchase(statement, user, order, step.cause)
        case .notification(let statement, let type):
            return purchase(statement, nil, nil, step.cause, tellsOnly: type == .refund || type == .refundDeclined)
        }
    }

    private mutating func spend(_ user: String, _ amount: Int64) -> String {
        let usable = (piles[user] ?? []).indices.filter {
            piles[user]?[$0].asset == Shop.coins && piles[user]?[$0].isFrozen == false
        }
        let total = usable.reduce(Int64(0)) { $0 + (piles[user]?[$1].left ?? 0) }
        if total < amount { return "not_enough \(balance(user, Shop.coins))" }
        var missing = amount
        for index in usable {
            let part = min(missing, piles[user]?[index].left ?? 0)
            piles[user]?[index].left -= part
            missing -= part
        }
        return "spent \(balance(user, Shop.coins))"
    }

    private mutating func purchase(
        _ statement: VerifiedTransaction, _ user: String?, _ number: OrderNumber?, _ cause: MessageID,
        tellsOnly: Bool = false
    ) -> String {
        let key = "\(statement.environment)\(statement.transactionID)"
        let isNews = learn(statement, key)
        guard let now = newest[key] else { return "?" }
        let tokenOrder = orders.first { $0.value.token == now.appAccountToken }
        if let granted = grants[key] {
            if let foreign = tokenOrder?.value.user, foreign != granted.user { freeze(key, now) }
            adjust(key, now)
            guard let user else { return "-" }
            if user != granted.user { return "TRANSACTION_ALREADY_BOUND_TO_OTHER_USER" }
            if now.revokedShare == 100_000 { return "TRANSACTION_ALREADY_REVOKED" }
            return (granted.cause == cause ? "granted" : "already_granted") + " \(balance(user, Shop.coins))"
        }
        if tellsOnly {
            if isNews, let owner = owners[key] { _ = deliver(key, now, owner, orderOfOwner[key], cause) }
            return "-"
        }
        if let user, let owner = owners[key], owner != user {
            if isNews { _ = deliver(key, now, owner, orderOfOwner[key], cause) }
            return "TRANSACTION_ALREADY_BOUND_TO_OTHER_USER"
        }
        if let number {
            guard let order = orders[number] else { return refuse("ORDER_NOT_FOUND", user, isNews, key, now, cause) }
            var code: String?
            if let claimant = user ?? owners[key], order.user != claimant {
                code = "ORDER_USER_MISMATCH"
            } else if order.product != now.productID {
                code = "ORDER_PRODUCT_MISMATCH"
            } else if let token = now.appAccountToken, token != order.token {
                code = "APP_ACCOUNT_TOKEN_MISMATCH"
            }
            if let code { return refuse(code, user, isNews, key, now, cause) }
        }
        guard let owner = tokenOrder?.value.user ?? number.flatMap({ orders[$0]?.user }) ?? owners[key] ?? user else {
            return "-"
        }
        if let user, user != owner {
            return refuse("TRANSACTION_ALREADY_BOUND_TO_OTHER_USER", user, isNews, key, now, cause)
        }
        let order = number ?? tokenOrder?.key ?? orderOfOwner[key]
        let word = deliver(key, now, owner, order, cause)
        return user == nil ? "-" : word
    }

    /// The caller gets nothing; news still reach whoever it was bound to before.
    private mutating func refuse(
        _ code: String, _ user: String?, _ isNews: Bool, _ key: String, _ now: VerifiedTransaction, _ cause: MessageID
    ) -> String {
        if isNews, let owner = owners[key] { _ = deliver(key, now, owner, orderOfOwner[key], cause) }
        return user == nil ? "-" : code
    }

    private mutating func learn(_ statement: VerifiedTransaction, _ key: String) -> Bool {
        guard let old = newest[key] else {
            newest[key] = statement
            return true
        }
        let left = (statement.signedDate, statement.revokedShare, statement.payloadHash)
        let isNewer = left > (old.signedDate, old.revokedShare, old.payloadHash)
        var winner = isNewer ? statement : old
        winner.appAccountToken = winner.appAccountToken ?? statement.appAccountToken ?? old.appAccountToken
        newest[key] = winner
        return isNewer
    }

    private mutating func deliver(
        _ key: String, _ now: VerifiedTransaction, _ user: String, _ order: OrderNumber?, _ cause: MessageID
    ) -> String {
        if now.revokedShare == 100_000 {
            waiting.remove(key)
            owners[key] = user
            orderOfOwner[key] = order
            settle(order, key, now, user)
            return "TRANSACTION_ALREADY_REVOKED"
        }
        if now.environment == .sandbox, user != "alice" { return "SANDBOX_NOT_ALLOWED" }
        owners[key] = user
        if now.productID == Shop.permanent, owns(user, now.environment) {
            orderOfOwner[key] = order
            waiting.insert(key)
            return "ALREADY_OWNED"
        }
        if waiting.remove(key) != nil { releases += 1 }
        grants[key] = Granted(user: user, cause: cause)
        let parts =
            now.productID == Shop.permanent
            ? [(Shop.coins, 7)]
            : now.productID == Shop.bundle ? [(Shop.coins, 100), (Shop.minutes, 30)] : [(Shop.coins, 60)]
        for (asset, amount) in parts {
            let total = Int64(amount) * now.quantity
            piles[user, default: []].append(
                Pile(from: now.transactionID, environment: now.environment, asset: asset, granted: total, left: total))
        }
        settle(order, key, now, user)
        adjust(key, now)
        return "granted \(balance(user, Shop.coins))"
    }

    /// A purchase settles one order, the first it was handed in with; of another product it gets one of its own.
    private mutating func settle(_ order: OrderNumber?, _ key: String, _ now: VerifiedTransaction, _ user: String) {
        guard let order, let known = orders[order], known.user == user, settled.insert(key).inserted else { return }
        if known.product == now.productID { orders[order]?.isDelivered = true }
    }

    private mutating func freeze(_ key: String, _ now: VerifiedTransaction) {
        guard let user = grants[key]?.user else { return }
        for index in (piles[user] ?? []).indices
        where piles[user]?[index].from == now.transactionID && piles[user]?[index].environment == now.environment {
            piles[user]?[index].isFrozen = true
        }
    }

    /// Takes or gives back the difference to what the revoked share asks for.
    private mutating func adjust(_ key: String, _ now: VerifiedTransaction) {
        guard var granted = grants[key], let mine = piles[granted.user] else { return }
        let user = granted.user
        for (own, pile) in mine.enumerated()
        where pile.from == now.transactionID && pile.environment == now.environment {
            var difference = pile.granted * now.revokedShare / 100_000 - pile.granted * granted.share / 100_000
            let others = mine.indices.filter {
                $0 != own && mine[$0].asset == pile.asset && mine[$0].environment == pile.environment
            }
            for index in [own] + others where difference > 0 {
                guard index == own || piles[user]?[index].isFrozen == false else { continue }
                let part = min(difference, piles[user]?[index].left ?? 0)
                piles[user]?[index].left -= part
                granted.takes[pile.asset, default: []].append(Take(pile: index, amount: part))
                difference -= part
            }
            if difference > 0 { granted.debts[pile.asset, default: 0] += difference }
            if difference < 0 {
                let forgiven = min(-difference, granted.debts[pile.asset] ?? 0)
                granted.debts[pile.asset, default: 0] -= forgiven
                difference += forgiven
                var filled = giveBack(&difference, &granted.repaid[pile.asset, default: []], user)
                filled += giveBack(&difference, &granted.takes[pile.asset, default: []], user)
                settle(key, user, pile, filled)
            }
        }
        let isOver = now.revokedShare == 100_000 && granted.share < 100_000
        granted.share = now.revokedShare
        grants[key] = granted
        guard isOver else { return }
        for next in waiting.sorted() where owners[next] == user && next.hasPrefix("\(now.environment)") {
            guard let statement = newest[next] else { continue }
            _ = deliver(next, statement, user, orderOfOwner[next], granted.cause)
        }
    }

    /// Whether a user has the card for ever.
    private func owns(_ user: String, _ environment: StoreEnvironment) -> Bool {
        grants.contains { key, granted in
            granted.user == user && granted.share < 100_000 && newest[key]?.productID == Shop.permanent
                && newest[key]?.environment == environment
        }
    }

    /// Puts back what was taken, the last first; returns what went where.
    private mutating func giveBack(_ difference: inout Int64, _ takes: inout [Take], _ user: String) -> [Take] {
        var filled: [Take] = []
        while difference < 0, var last = takes.popLast() {
            let part = min(-difference, last.amount)
            piles[user]?[last.pile].left += part
            filled.append(Take(pile: last.pile, amount: part))
            last.amount -= part
            difference += part
            if last.amount > 0 { takes.append(last) }
        }
        return filled
    }

    /// What came back pays what is still owed for other purchases.
    private mutating func settle(_ key: String, _ user: String, _ pile: Pile, _ filled: [Take]) {
        var budget = filled.reduce(0) { $0 + $1.amount }
        for debtor in grants.keys.sorted() where debtor != key && debtor.hasPrefix("\(pile.environment)") {
            guard var other = grants[debtor], other.user == user, let owed = other.debts[pile.asset] else { continue }
            var rest = min(owed, budget)
            for take in filled where rest > 0 && piles[user]?[take.pile].isFrozen == false {
                let part = min(rest, piles[user]?[take.pile].left ?? 0)
                piles[user]?[take.pile].left -= part
                if part > 0 { other.repaid[pile.asset, default: []].append(Take(pile: take.pile, amount: part)) }
                rest -= part
                budget -= part
                other.debts[pile.asset, default: 0] -= part
            }
            grants[debtor] = other
        }
    }
}
