import Messages

@testable import Granting
@testable import Pipeline

/// Knows what must be true, from what it saw itself: it never asks the lanes.
struct Auditor {
    private var shop = PlainShop()
    /// Messages whose effect is committed.
    private var committedCauses: Set<MessageID> = []
    /// Submissions of which it was told that they are verified, or that wait to be.
    private var verified: Set<MessageID> = []
    /// Facts that reached their queues, and those whose lane knows it.
    private var told: Set<MessageID> = []
    private var confirmed: Set<MessageID> = []
    /// Facts by the message that caused them.
    private var facts: [MessageID: [MessageID]] = [:]

    /// Whether a message's effect is committed.
    func isCommitted(_ id: MessageID) -> Bool { committedCauses.contains(id) }
    /// A submission waits on the retry ladder: not lost.
    mutating func isDelayed(_ id: MessageID) { verified.insert(id) }
    /// A submission's verdict reached its queue.
    mutating func isVerified(_ letter: Letter) {
        if let cause = letter.header.causationID { verified.insert(cause) }
    }
    /// A fact reached its queues.
    mutating func isTold(_ id: MessageID) { told.insert(id) }
    /// A lane knows that a fact reached its queues.
    mutating func isConfirmed(_ id: MessageID) { confirmed.insert(id) }

    /// The one rule: acknowledged only after the consequences are committed and told.
    func problem(acknowledging copy: Copy, by lane: SimulatedLane, _ world: World) -> String? {
        let id = copy.letter.header.id
        if lane.queue == .submitted {
            return verified.contains(id) ? nil : "INV7: acknowledged and lost: \(world.label(copy.letter))"
        }
        guard committedCauses.contains(id) else {
            return "INV7: acknowledged without effect: \(world.label(copy.letter))"
        }
        for fact in facts[id] ?? [] where !(confirmed.contains(fact) && told.contains(fact)) {
            // Another copy of it, still in somebody's hands, will tell.
            if world.holds(id, besides: copy.tag, of: lane) { continue }
            return "INV8: acknowledged before its facts were told: \(world.label(copy.letter))"
        }
        return nil
    }

    /// What is wrong after a commit: compared with the plain shop, told the same messages in the same order.
    mutating func problems(
        committing copies: [Copy], _ attempt: Attempt, _ open: Database.OpenTransaction, _ world: World
    ) -> [String] {
        var problems: [String] = []
        let users = Dictionary(
            world.database.customers.committed.compactMap { row in row.userID.map { (row.id, $0) } },
            uniquingKeysWith: { first, _ in first })
        for (copy, outcome) in zip(copies, attempt.outcomes ?? []) {
            committedCauses.insert(copy.letter.header.id)
            let expected = say(copy.letter, open, users, after: world.database.commitCount - 1)
            guard case .done(_, let reply) = outcome, let reply, let expected else { continue }
            let word = Answer.word(reply.body)
            if word != expected {
                problems.append("INV2: \(world.label(copy.letter)) answers \(word), the rules say \(expected)")
            }
        }
        for fact in attempt.facts where !(facts[fact.cause] ?? []).contains(fact.id) {
            facts[fact.cause, default: []].append(fact.id)
        }
        return problems + differences(world, users) + (open.hasWritten ? Sums.problems(world.database) : [])
    }

    /// What the plain shop says; nil where it has no word.
    private mutating func say(
        _ letter: Letter, _ open: Database.OpenTransaction, _ users: [CustomerID: UserID], after commits: Int
    ) -> String? {
        let cause = letter.header.id
        switch letter.content {
        case .purchase(let purchase):
            return shop.buy(
                purchase.transaction, user: purchase.userID, order: purchase.orderNumber, cause: cause, seeing: open)
        case .notification(let notification):
            shop.tell(notification, cause: cause, seeing: open)
            return nil
        case .wallet(.order(let request)): return shop.order(request, after: commits)
        case .wallet(.spend(let request)): return shop.spend(request, at: open.clock)
        case .command(.redrive(let key)):
            let found = open.redriven[key]
            let user = (found?.owner ?? found?.submitter).flatMap { users[$0] }
            return shop.redrive(found, for: user, cause: cause, seeing: open)
        case .command(.importCatalog):
            shop.importCatalog()
            return nil
        case .wallet(.token), .wallet(.consent), .wallet(.unusable), .command(.clearRisk), .submitted,
            .command(.erase), .command(.transfer), .command(.sweep):
            return nil
        }
    }

    /// Where the database and the plain shop differ.
    private func differences(_ world: World, _ users: [CustomerID: UserID]) -> [String] {
        var problems: [String] = []
        var piles: [UserID: [PlainShop.Pile]] = [:]
        for row in world.database.lots.committed.sorted(by: { $0.id < $1.id }) {
            guard let user = users[row.lot.customer] else { continue }
            piles[user, default: []].append(
                PlainShop.Pile(
                    from: row.lot.key.purchase, asset: row.lot.key.asset, granted: row.lot.amount,
                    left: row.lot.remaining, isFrozen: row.lot.isFrozen))
        }
        if piles != shop.piles { problems.append("INV3: wallets are \(piles), the rules say \(shop.piles)") }
        for (key, granted) in shop.grants {
            guard let grant = world.database.grants.cells[key]?.committed else {
                problems.append("INV2: \(key) is not granted")
                continue
            }
            if users[grant.customer] != granted.user || grant.cause != granted.cause {
                problems.append("INV1: \(key) is granted to somebody else, or by another message")
            }
            if grant.appliedShare != granted.share || grant.revision != granted.revisions {
                problems.append("INV3: \(key) reflects another share")
            }
            for (asset, owed) in granted.debts {
                let debt = world.database.debts.cells[LotKey(purchase: key, asset: asset)]?.committed
                if (debt?.open ?? 0) != owed { problems.append("INV3: \(key) owes \(debt?.open ?? 0), not \(owed)") }
            }
        }
        for row in world.database.transactions.committed {
            guard let known = shop.known[row.purchase.key] else { continue }
            if known.newest != row.purchase.statement {
                problems.append("INV3: \(row.purchase.key) does not have its newest statement")
            }
            if known.owner != row.purchase.owner.flatMap({ users[$0] }) || known.isHeld != row.purchase.heldReason {
                problems.append("INV2: \(row.purchase.key) has another owner or waits for another reason")
            }
        }
        return problems
    }

    /// What is wrong when everything is at rest.
    func problemsAtRest(_ world: World) -> [String] {
        let database = world.database
        var problems: [String] = []
        for row in database.facts.committed {
            if !told.contains(row.fact.id) {
                problems.append("INV8: a zombie, stored but never told: \(row.fact.type)")
            }
        }
        problems += Sums.factProblems(database)
        let wasImported = database.catalogs.committed.count > 1
        for row in database.transactions.committed {
            if let reason = row.purchase.heldReason, wasImported, row.purchase.owner ?? row.purchase.submitter != nil {
                problems.append("INV2: \(row.purchase.key) still waits for \(reason.rawValue)")
            }
        }
        if !world.broker.parked.isEmpty { problems.append("INV7: \(world.broker.parked.count) messages are parked") }
        return problems + Expectation.problems(world)
    }
}
