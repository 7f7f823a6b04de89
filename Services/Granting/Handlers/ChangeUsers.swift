import Messages
import Pipeline

/// Erasing users, and transfers from guests to registered users. Both run under the exclusive lock of decisions, so no
/// decision is half before and half after: what is handled later finds the name retired.
enum ChangeUsers {
    /// Takes out what names a user. The books stay, under a customer who is nobody: orders and tokens go on belonging to
    /// it, so what Apple still delivers lands where its refund will look for it. Used-up starter offers stay used up.
    static func erase(
        _ request: UserEraseRequested, _ incoming: Incoming, in tables: inout some BookTables & ~Copyable
    ) throws -> Outcome {
        let cause = incoming.header.id
        let user = UserKey(app: request.app, user: request.userID)
        let found = try tables.run([
            .userCommand(.erase, request.app, requestID: cause.rawValue, [request.userID]), .adoptRestored([user]),
            .findCustomers([user]),
            .clock,
        ])
        if let decided = found.userCommand {
            return .done(facts: [], reply: try incoming.reply(UserEraseAnswered(customer: decided.customer)))
        }
        let customer = found.customers.first?.id
        // Also of a user who is not known: what they sent may still be on its way.
        var changes: [BookChange] = [
            .retireName(FormerUser(user: user, customer: nil, until: found.now), cause: cause),
            .recordUserCommand(
                UserCommand(
                    kind: .erase, app: request.app, requestID: cause.rawValue, users: [request.userID], cause: cause,
                    outcome: customer == nil ? .unknownUser : .erased, customer: customer, actor: request.actor,
                    reason: request.reason)),
        ]
        if let customer {
            changes += [
                .nameCustomer(customer, nil), .forgetIdentities(customer), .forgetFormerNames(customer),
                .endOrders(customer), .dropSubmissions(customer),
            ]
        }
        tables.enqueue(changes)
        let facts = try customer.map {
            try Fact(
                UserErased(customer: $0, actor: request.actor), key: $0.rawValue, app: request.app, environment: nil,
                causedBy: incoming.header, occurredAt: found.now)
        }
        return .done(
            facts: [facts].compactMap { $0 }, reply: try incoming.reply(UserEraseAnswered(customer: customer)))
    }

    /// Gives a guest's wallet to a registered user who has none. Two wallets are never merged: what was paid into either
    /// stays where its refund will look for it.
    static func transfer(
        _ request: UserTransferRequested, _ incoming: Incoming, in tables: inout some BookTables & ~Copyable
    ) throws -> Outcome {
        let guest = UserKey(app: request.app, user: request.fromUserID)
        let user = UserKey(app: request.app, user: request.toUserID)
        let users = [request.fromUserID, request.toUserID]
        let found = try tables.run([
            .userCommand(.transfer, request.app, requestID: request.requestID, users), .adoptRestored([guest, user]),
            .findCustomers([guest, user]), .userDigests([user]), .clock,
        ])
        func answer(_ outcome: TransferOutcome, _ facts: [Fact] = []) throws -> Outcome {
            .done(facts: facts, reply: try incoming.reply(UserTransferAnswered(outcome: outcome)))
        }
        if let decided = found.userCommand {
            return try answer(
                decided.isSame
                    ? TransferOutcome(rawValue: decided.outcome.rawValue) ?? .requestConflict
                    : .requestConflict)
        }
        let from = found.customers.first { $0.userID == request.fromUserID }?.id
        let taken = found.customers.first { $0.userID == request.toUserID }?.id
        let hasBooks = try taken.map { try !tables.run([.hasBooks($0)]).owners.isEmpty } ?? false
        let outcome: TransferOutcome = from == nil ? .unknownGuest : hasBooks ? .userHasBooks : .transferred
        let customer = outcome == .transferred ? from : nil
        var changes: [BookChange] = [
            .recordUserCommand(
                UserCommand(
                    kind: .transfer, app: request.app, requestID: request.requestID, users: users,
                    cause: incoming.header.id,
                    outcome: UserCommand.Outcome(rawValue: outcome.rawValue) ?? .unknownGuest,
                    customer: customer, formerID: customer == nil ? nil : request.fromUserID, actor: request.actor,
                    reason: request.reason))
        ]
        guard let customer else {
            tables.enqueue(changes)
            return try answer(outcome)
        }
        // A row without books stands for nothing: it becomes nobody's.
        if let taken { changes.append(.nameCustomer(taken, nil)) }
        changes += [
            .nameCustomer(customer, request.toUserID),
            .retireName(FormerUser(user: guest, customer: customer, until: found.now), cause: incoming.header.id),
        ]
        tables.enqueue(changes)
        let fact = try Fact(
            UserTransferred(customer: customer, actor: request.actor, userDigest: found.userDigests.first ?? nil),
            key: customer.rawValue, app: request.app, environment: nil, causedBy: incoming.header, occurredAt: found.now
        )
        return try answer(.transferred, [fact])
    }
}
