import Messages

@testable import Granting
@testable import Pipeline

/// The steps, each resumed until it is done; what is done already says so at once.
extension SimulatedLane: LaneSteps {
    func commit(_ batch: BatchInHand) throws -> LaneBatch {
        if let committed = batch.committed { return committed }
        if queue == .submitted { return verify(batch) }
        guard world.isDatabaseUp else { throw databaseLost() }
        var attempt = batch.attempt ?? Attempt(transaction: world.database.begin())
        batch.attempt = nil  // one owner, or every change would copy what was found so far
        defer { if batch.committed == nil, case .working = state { batch.attempt = attempt } }
        switch attempt.phase {
        case .handling: try handleFurther(&attempt, batch)
        case .facts where world.plan.mutation == .factsAfterCommit && !attempt.isSecond: commitInTwo(&attempt, batch)
        case .facts, .announcing, .retiring, .recalling:
            attempt.runFactStatement(on: world.database, retiring: published)
        case .ready: attempt.phase = .committing
        case .committing:
            world.apply(attempt, batch.taken)
            return done(attempt, batch)
        }
        throw Unfinished()
    }

    func send(_ batch: BatchInHand, _ committed: LaneBatch) throws {
        guard batch.stage < 1 else { return }
        if batch.publishing == nil { batch.publishing = Publishing(outgoing(batch, committed)) }
        if write(&batch.publishing) { throw Unfinished() }
        batch.stage = 1
    }

    func confirm(_ batch: BatchInHand, _ committed: LaneBatch) throws {
        guard batch.stage < 2 else { return }
        guard publish(&batch.publishing) else { throw Unfinished() }
        batch.publishing = nil
        batch.stage = 2
    }

    func forward(_ batch: BatchInHand, _ committed: LaneBatch) throws {
        guard batch.stage < 3 else { return }
        for (copy, entry) in zip(batch.taken, committed.entries) {
            switch entry.outcome {
            case .done: continue
            case .park: world.park(copy)
            case .retry(let wish, _, let isOutage, _, _):
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
        batch.stage = 3
        throw Unfinished()
    }

    /// Between two turns the lane may note the same rows twice; retiring them twice is nothing.
    func note(_ committed: LaneBatch) {
        published += committed.unannounced.filter { !published.contains($0) }
    }

    func acknowledge(_ batch: BatchInHand) throws {
        guard batch.stage < 4 else { return }
        guard !isConsumerLost else { throw BrokerLost() }
        let upTo =
            world.plan.mutation == .acknowledgesEverythingDelivered ? hands.last?.tag : batch.taken.last?.tag
        guard let upTo else { return }
        for copy in hands where copy.tag <= upTo { world.acknowledged(copy, by: self) }
        hands.removeAll { $0.tag <= upTo }
        batch.stage = 4
    }

    func reached(_ point: CrashPoint, _ batch: BatchInHand) {}

    // MARK: - Inside the transaction

    /// Runs the handler until it asks, or one statement of what it asked.
    private func handleFurther(_ attempt: inout Attempt, _ batch: BatchInHand) throws {
        guard !attempt.isAsking else { return attempt.runStatement(on: world.database) }
        if let outcomes = attempt.outcomes {
            (attempt.facts, attempt.recalling) = LaneBatch.facts(of: outcomes, on: batch.incoming)
            attempt.phase = .facts
            return
        }
        var tables = ModelTables(answers: attempt.answers)
        do {
            attempt.outcomes = try decide(batch, &tables)
        } catch is ModelTables.Asked {
            attempt.queries = inOrder(tables.queries)
        }
        attempt.changes = tables.changes
    }

    /// Runs the handler. What it remembers between batches is kept only when it comes to its end: each run begins with
    /// what it knew at the first.
    private func decide(_ whole: BatchInHand, _ tables: inout ModelTables) throws -> [Outcome] {
        var (purchases, wallet, notifications) = (self.purchases, self.wallet, self.notifications)
        let parts =
            world.plan.mutation == .foldBroken ? whole.taken.indices.map { $0..<$0 + 1 } : [0..<whole.taken.count]
        let outcomes = try parts.flatMap { part in
            let contents = whole.taken[part].map(\.letter.content)
            let batch = Array(whole.incoming[part])
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
    private func commitInTwo(_ attempt: inout Attempt, _ batch: BatchInHand) {
        world.apply(attempt, batch.taken)
        var second = Attempt(transaction: world.database.begin())
        (second.phase, second.isSecond) = (.facts, true)
        (second.outcomes, second.facts, second.recalling) = (attempt.outcomes, attempt.facts, attempt.recalling)
        attempt = second
    }

    private func done(_ attempt: Attempt, _ batch: BatchInHand) -> LaneBatch {
        let committed = LaneBatch(batch.incoming, attempt.outcomes ?? [], attempt.saved)
        batch.committed = committed
        batch.attempt = nil
        published = []
        world.trace { "\(self.name) commits" }
        return committed
    }

    /// The database is gone: the batch waits, and is run anew.
    func databaseLost() -> Unfinished {
        current?.attempt = nil
        state = .paused(until: world.now + 50 + Int64(world.dice.roll(200)))
        return Unfinished()
    }

    /// What a lane must not do with a commit whose reply was lost.
    func guess(_ attempt: Attempt, _ batch: BatchInHand) {
        let mutation = world.plan.mutation
        guard mutation == .ambiguousCommitTakenForFailed || mutation == .ambiguousCommitTakenForDone else {
            if mutation != .ambiguousCommitNotRecalled { batch.incoming = batch.incoming.map(\.again) }
            _ = databaseLost()
            return
        }
        if mutation == .ambiguousCommitTakenForDone {
            _ = done(attempt, batch)
        } else {
            let parked = batch.incoming.map { _ in Outcome.park(reason: "commit.failed") }
            batch.committed = LaneBatch(batch.incoming, parked, FactStore.Saved())
            batch.attempt = nil
        }
    }

    /// The mistakes about the order of steps.
    func workInWrongOrder(_ batch: BatchInHand) throws {
        if world.plan.mutation == .acknowledgedBeforeCommit, batch.stage < 4 {
            try acknowledge(batch)
            batch.stage = 0
        }
        let committed = try commit(batch)
        if world.plan.mutation == .acknowledgedBeforePublish, !hands.isEmpty, hands[0].tag == batch.taken.first?.tag {
            try acknowledge(batch)
            batch.stage = 0
            throw Unfinished()
        }
        try send(batch, committed)
        try confirm(batch, committed)
        try forward(batch, committed)
        note(committed)
        finishOutOfOrder(batch)
    }

    /// The mistake about the order of batches: an acknowledgement covers everything before it.
    func workOutOfTurn(_ batch: BatchInHand) throws {
        guard told != nil else {
            _ = try commit(batch)
            (told, current, state) = (batch, nil, .idle)
            return
        }
        var steps = self
        let committed = try steps.tell(batch)
        try steps.end(batch, committed)
        finishOutOfOrder(batch)
    }

    private func finishOutOfOrder(_ batch: BatchInHand) {
        if batch.taken.contains(where: { !$0.isRedelivered }) { isSlowStart = false }
        (current, lastWork, state) = (nil, world.now, .idle)
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
