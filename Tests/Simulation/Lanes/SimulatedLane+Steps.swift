import Messages

@testable import Granting
@testable import Pipeline

/// The steps, each resumed until it is done; what is done already says so at once.
extension SimulatedLane: LaneSteps {
    func commit(_ taken: [Copy]) throws -> LaneBatch {
        if let committed { return committed }
        if queue == .submitted { return verify() }
        guard world.isDatabaseUp else { throw databaseLost() }
        var attempt = self.attempt ?? Attempt(transaction: world.database.begin())
        self.attempt = nil  // one owner, or every change would copy what was found so far
        defer { if self.committed == nil, case .working = state { self.attempt = attempt } }
        switch attempt.phase {
        case .handling: try handleFurther(&attempt)
        case .facts where world.plan.mutation == .factsAfterCommit && !attempt.isSecond: commitInTwo(&attempt)
        case .facts, .announcing, .retiring, .recalling:
            attempt.runFactStatement(on: world.database, retiring: published)
        case .ready: attempt.phase = .committing
        case .committing:
            world.apply(attempt, taken)
            return done(attempt)
        }
        throw Unfinished()
    }

    func publish(_ taken: [Copy], _ committed: LaneBatch) throws {
        guard stage < 1 else { return }
        if publishing == nil { publishing = Publishing(outgoing(committed)) }
        guard publish() else { throw Unfinished() }
        publishing = nil
        stage = 1
    }

    func forward(_ taken: [Copy], _ committed: LaneBatch) throws {
        guard stage < 2 else { return }
        for (copy, entry) in zip(taken, committed.entries) {
            switch entry.outcome {
            case .done: continue
            case .park: world.park(copy)
            case .retry(let wish, _, let isOutage, _):
                let attempt = copy.letter.header.attempt
                guard let delay = RetryPolicy.next(wish, attempt: attempt, isOutage: isOutage) else {
                    world.park(copy)
                    continue
                }
                var letter = copy.letter
                letter.header.attempt += 1
                world.auditor.isDelayed(letter.header.id)
                world.broker.delay(letter, in: queue, until: world.now + Int64(delay.milliseconds))
            }
        }
        stage = 2
        throw Unfinished()
    }

    func note(_ committed: LaneBatch) {
        guard stage < 3 else { return }
        published += committed.unannounced
        stage = 3
    }

    func acknowledge(_ taken: [Copy]) throws {
        guard stage < 4 else { return }
        guard !isConsumerLost else { throw BrokerLost() }
        let upTo =
            world.plan.mutation == .acknowledgesEverythingDelivered ? hands.last?.tag : taken.last?.tag
        guard let upTo else { return }
        for copy in hands where copy.tag <= upTo { world.acknowledged(copy, by: self) }
        hands.removeAll { $0.tag <= upTo }
        stage = 4
    }

    func reached(_ point: CrashPoint, _ taken: [Copy]) {}

    // MARK: - Inside the transaction

    /// Runs the handler until it asks, or one statement of what it asked.
    private func handleFurther(_ attempt: inout Attempt) throws {
        guard !attempt.isAsking else { return attempt.runStatement(on: world.database) }
        if let outcomes = attempt.outcomes {
            (attempt.facts, attempt.recalling) = LaneBatch.facts(of: outcomes, on: incoming)
            attempt.phase = .facts
            return
        }
        var tables = ModelTables(answers: attempt.answers)
        do {
            attempt.outcomes = try decide(&tables)
        } catch is ModelTables.Asked {
            attempt.queries = inOrder(tables.queries)
        }
        attempt.changes = tables.changes
    }

    /// Runs the handler. What it remembers between batches is kept only when it comes to its end: each run begins with
    /// what it knew at the first.
    private func decide(_ tables: inout ModelTables) throws -> [Outcome] {
        var (purchases, wallet, notifications) = (self.purchases, self.wallet, self.notifications)
        let parts = world.plan.mutation == .foldBroken ? taken.indices.map { $0..<$0 + 1 } : [0..<taken.count]
        let outcomes = try parts.flatMap { part in
            let contents = taken[part].map(\.letter.content)
            let batch = Array(incoming[part])
            switch queue {
            case .purchases: return try purchases.grant(contents.map(\.purchase), of: batch, in: &tables)
            case .wallet:
                let requests = contents.map { $0.request ?? .unusable(reason: "none") }
                return try wallet.decide(requests, of: batch, in: &tables)
            case .notifications:
                return try notifications.apply(contents.map(\.notification), of: batch, in: &tables)
            case .commands: return try commands.run(contents.map(\.command), of: batch, in: &tables)
            case .submitted: return []
            }
        }
        (self.purchases, self.wallet, self.notifications) = (purchases, wallet, notifications)
        return outcomes
    }

    private func inOrder(_ queries: [BookQuery]) -> [BookQuery] {
        guard world.plan.mutation == .transactionsBeforeCustomers, queue == .commands,
            let customers = queries.firstIndex(where: { if case .lockCustomers = $0 { true } else { false } }),
            let locks = queries.firstIndex(where: { if case .lockTransactions = $0 { true } else { false } })
        else { return queries }
        var queries = queries
        queries.insert(queries.remove(at: customers), at: locks)
        return queries
    }

    /// Facts in a transaction of their own.
    private func commitInTwo(_ attempt: inout Attempt) {
        world.apply(attempt, taken)
        var second = Attempt(transaction: world.database.begin())
        (second.phase, second.isSecond) = (.facts, true)
        (second.outcomes, second.facts, second.recalling) = (attempt.outcomes, attempt.facts, attempt.recalling)
        attempt = second
    }

    private func done(_ attempt: Attempt) -> LaneBatch {
        let batch = LaneBatch(incoming, attempt.outcomes ?? [], attempt.saved)
        committed = batch
        self.attempt = nil
        published = []
        world.trace { "\(self.name) commits" }
        return batch
    }

    /// The database is gone: the batch waits, and is run anew.
    func databaseLost() -> Unfinished {
        attempt = nil
        state = .paused(until: world.now + 50 + Int64(world.dice.roll(200)))
        return Unfinished()
    }

    /// What a lane must not do with a commit whose reply was lost.
    func guess(_ attempt: Attempt) {
        let mutation = world.plan.mutation
        guard mutation == .ambiguousCommitTakenForFailed || mutation == .ambiguousCommitTakenForDone else {
            if mutation != .ambiguousCommitNotRecalled { incoming = incoming.map(\.again) }
            _ = databaseLost()
            return
        }
        if mutation == .ambiguousCommitTakenForDone {
            _ = done(attempt)
        } else {
            committed = LaneBatch(incoming, incoming.map { _ in .park(reason: "commit.failed") }, FactStore.Saved())
            self.attempt = nil
        }
    }

    /// The mistakes about the order of steps.
    func handleInWrongOrder() throws {
        if world.plan.mutation == .acknowledgedBeforeCommit, stage < 4 {
            try acknowledge(taken)
            stage = 0
        }
        let committed = try commit(taken)
        if world.plan.mutation == .acknowledgedBeforePublish, !hands.isEmpty, hands[0].tag == taken.first?.tag {
            try acknowledge(taken)
            stage = 0
            throw Unfinished()
        }
        try publish(taken, committed)
        try forward(taken, committed)
        note(committed)
    }
}

extension Letter.Content {
    fileprivate var purchase: PurchaseVerified? { if case .purchase(let found) = self { found } else { nil } }
    fileprivate var request: DecideWallet.Request? { if case .wallet(let found) = self { found } else { nil } }
    fileprivate var notification: NotificationVerified? {
        if case .notification(let found) = self { found } else { nil }
    }
    fileprivate var command: RunCommands.Command? { if case .command(let found) = self { found } else { nil } }
}
