import AMQP
import Messages

@testable import Granting
@testable import Pipeline

/// What the broker does with what is published, and what is checked on the way.
extension World {
    /// What became of a published message.
    enum Routed { case stored, returned, rejected }

    /// Takes a message.
    func route(_ outgoing: Publishing.Outgoing) -> Routed {
        if rejections > 0 {
            rejections -= 1
            return .rejected
        }
        switch outgoing {
        case .letter(let letter, let queue):
            auditor.isVerified(letter)
            broker.store(letter, in: queue)
            return .stored
        case .message(let message):
            if message.exchange == Topology.replies {
                answer(message)
                return .stored
            }
            if message.isMandatory, now < bindingMissingUntil { return .returned }
            tell(message)
            return .stored
        }
    }

    /// All of these are confirmed.
    func confirmed(_ messages: [Publishing.Outgoing]) {
        for case .message(let message) in messages where message.exchange != Topology.replies {
            if let id = message.properties.messageID { auditor.isConfirmed(MessageID(id)) }
        }
    }

    /// A lane acknowledges a message.
    func acknowledged(_ copy: Copy, by lane: SimulatedLane) {
        if let problem = auditor.problem(acknowledging: copy, by: lane, self) { fail(problem) }
    }

    /// Whether another copy of a message is in a queue or in some lane's hands.
    func holds(_ id: MessageID, besides tag: Int, of lane: SimulatedLane) -> Bool {
        broker.holds(id)
            || lanes.contains { other in
                other.hands.contains { $0.letter.header.id == id && !(other === lane && $0.tag <= tag) }
            }
    }

    /// A lane gives a message up.
    func park(_ copy: Copy) {
        broker.park(copy)
        fail("INV7: parked, though nothing is wrong with it: \(label(copy.letter))")
    }

    /// A commit takes effect.
    func apply(_ attempt: Attempt, _ copies: [Copy]) {
        guard let open = database.open[attempt.transaction] else { return }
        database.end(attempt.transaction, commits: true)
        if attempt.isSecond { return }
        for problem in auditor.problems(committing: copies, attempt, open, self) { fail(problem) }
    }

    /// A fact reaches its queues.
    private func tell(_ message: OutgoingMessage) {
        guard let text = message.properties.messageID else { return }
        let id = MessageID(text)
        guard let row = database.facts.cells[id]?.committed else {
            return fail("INV8: a ghost, told but not stored: \(message.routingKey)")
        }
        if row.fact.body != message.body { fail("INV6: copies of a fact differ: \(message.routingKey)") }
        auditor.isTold(id)
        trace { "told: \(message.routingKey) \(row.fact.key)" }
        guard row.fact.type == .purchaseRedriveRequested,
            let request = try? MessageCoding.decode(PurchaseRedriveRequested.self, from: message.body)
        else { return }
        let header = MessageHeader(
            id: id, type: row.fact.type, version: 1, occurredAt: row.fact.occurredAt,
            correlationID: row.fact.correlationID, causationID: row.fact.cause, app: row.fact.app,
            replyTo: message.properties.replyTo)
        let key = TransactionKey(environment: request.environment, transactionID: request.transactionID)
        broker.store(Letter(header: header, content: .command(.redrive(key))), in: .commands)
    }

    private func answer(_ message: OutgoingMessage) {
        if answersLost > 0 {
            answersLost -= 1
            return
        }
        guard let index = message.properties.correlationID.flatMap({ Int($0) }), requests.indices.contains(index),
            message.properties.type == requests[index].event.action.answer.rawValue
        else { return }
        let word = Answer.word(message.body)
        trace { "answer to \(index): \(word)" }
        requests[index].nextAt = nil
        if word.hasSuffix("granted"), case .buy(let statement, let user, _) = requests[index].event.action,
            let user, let customer = database.customers.cells[UserKey(app: Story.app, user: user)]?.committed,
            database.grants.cells[statement.key]?.committed?.customer != customer.id
        {
            fail("INV2: told \(word) without a grant")
        }
    }

    /// What verification says of what was submitted: the same message, however often it says it.
    func verified(_ letter: Letter) -> Letter? {
        guard case .submitted(let purchase) = letter.content else { return nil }
        var header = letter.header
        header.type = .purchaseVerified
        header.id = Fact.identifier(
            type: .purchaseVerified, key: purchase.transaction.key.description, revision: 0, cause: letter.header.id)
        header.causationID = letter.header.id
        header.attempt = 0
        return Letter(header: header, content: .purchase(purchase))
    }
}

extension Story.Event {
    /// Whether somebody waits for an answer.
    var isAnswered: Bool {
        switch action {
        case .buy(_, let user, _): user != nil
        case .tell: false
        case .order, .spend, .importCatalog: true
        }
    }
}

extension Story.Action {
    /// The request's type. Apple's own feeds are verified already.
    var type: MessageType {
        switch self {
        case .buy(_, let user, _): user == nil ? .purchaseVerified : .purchaseSubmitted
        case .tell(let notification): notification.messageType
        case .order: .orderRequested
        case .spend: .spendRequested
        case .importCatalog: .catalogImportRequested
        }
    }

    /// The answer's type.
    var answer: MessageType {
        switch self {
        case .buy, .tell: .purchaseAnswered
        case .order: .orderAnswered
        case .spend: .spendAnswered
        case .importCatalog: .catalogAnswered
        }
    }

    /// Where it goes.
    var queue: Broker.Queue {
        switch self {
        case .buy(_, let user, _): user == nil ? .purchases : .submitted
        case .tell: .notifications
        case .order, .spend: .wallet
        case .importCatalog: .commands
        }
    }

    /// What it says.
    var content: Letter.Content {
        switch self {
        case .buy(let statement, let user, let order):
            let purchase = PurchaseVerified(app: Story.app, userID: user, orderNumber: order, transaction: statement)
            return user == nil ? .purchase(purchase) : .submitted(purchase)
        case .tell(let notification): return .notification(notification)
        case .order(let request): return .wallet(.order(request))
        case .spend(let request): return .wallet(.spend(request))
        case .importCatalog(let request): return .command(.importCatalog(request))
        }
    }
}
