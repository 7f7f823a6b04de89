import AMQP
import Messages
import Pipeline
import Postgres
import Runtime
import TestSupport
import Testing

@testable import Granting

/// Every place the lane that grants can die at, on real parts.
@Suite(.serialized, .timeLimit(.minutes(5))) struct GrantPurchasesCrashTests {
    /// Four customers, three purchases each, every purchase in two messages; the third of each is half refunded, and a
    /// thief hands in the first.
    private struct Story {
        static let users = ["alice", "bob", "carol", "dave"]
        var purchases: [TransactionID: [MessageID]] = [:]
        var thefts: [MessageID] = []
        var messages: [OutgoingMessage] = []

        init(_ granting: GrantingStage) throws {
            for (place, user) in Self.users.enumerated() {
                for number in 1...3 {
                    let statement = transaction("\(place)\(number)", token: nil)
                    let twice = try (0..<2).map { _ in try granting.purchase(statement, by: user) }
                    purchases[statement.transactionID] = twice.map(\.id)
                    messages += twice
                }
                messages.append(
                    try granting.purchase(transaction("\(place)3", signed: 1, revoked: 50_000, hash: "01"), by: nil))
                let theft = try granting.purchase(transaction("\(place)1"), by: "mallory")
                thefts.append(theft.id)
                messages.append(theft)
            }
        }
    }

    /// With two lanes a thief may be the first to claim what no token binds; everything else is the same.
    private static func messages(_ story: Story, _ fault: LaneFault) -> [OutgoingMessage] {
        fault == .runsTwice ? story.messages.filter { !story.thefts.contains($0.id) } : story.messages
    }

    @Test(arguments: LaneFault.allCases)
    func `every purchase is granted once, told under one id and answered GRANTED, also again (C1 C2 C3 C4 C7 C8)`(
        fault: LaneFault
    ) async throws {
        let granting = try await GrantingStage.make(Topology.grantingPurchases, fault.rawValue)
        try await onThread {
            let story = try Story(granting)
            let messages = Self.messages(story, fault)
            try granting.stage.survive(fault, messages, fact: .purchaseGranted, handler: { GrantPurchases() }) {
                try granting.number("SELECT count(*) FROM granting.grants WHERE applied_share = 50000") == 4
                    && granting.number("SELECT count(*) FROM granting.grants") == 12
            }
            try granting.expectOrder()
            try Self.expectState(granting)
            try Self.expectFacts(try granting.stage.facts())
            try Self.expectAnswers(granting, story, fault)
        }
    }

    private static func expectState(_ granting: GrantingStage) throws {
        let expected = Dictionary(uniqueKeysWithValues: Story.users.map { ("\($0) DANBING", Int64(150)) })
        #expect(try granting.balances() == expected, "three times 60, less half of one")
        #expect(try granting.number("SELECT count(*) FROM granting.lots") == 12)
        #expect(try granting.number("SELECT count(*) FROM granting.ledger WHERE direction = 'IN'") == 12)
        #expect(try granting.number("SELECT count(*) FROM granting.ledger WHERE direction = 'OUT'") == 4)
    }

    private static func expectFacts(_ facts: [Told]) throws {
        let granted = try facts.identifiers(PurchaseGranted.self) { $0.transactionID.rawValue }
        #expect(granted.count == 12 && granted.values.allSatisfy { $0.count == 1 }, "each told, under one id")
        let clawedBack = try facts.identifiers(PurchaseClawedBack.self) { $0.transactionID.rawValue }
        #expect(clawedBack.count == 4 && clawedBack.values.allSatisfy { $0.count == 1 })
    }

    private static func expectAnswers(_ granting: GrantingStage, _ story: Story, _ fault: LaneFault) throws {
        let answers = try granting.stage.answers().answers(PurchaseAnswered.self)
        for (transaction, messages) in story.purchases {
            let statuses = messages.map { Set((answers[$0] ?? []).map(\.status)) }
            // Which of two messages was first may be decided by chance, but then it stays the first.
            #expect(Set(statuses) == [[.granted], [.alreadyGranted]], "\(transaction): \(statuses)")
        }
        for theft in story.thefts where fault != .runsTwice {
            let told = answers[theft] ?? []
            #expect(!told.isEmpty && told.allSatisfy { $0.code == .transactionAlreadyBound && !$0.mayFinish })
        }
        if fault.answersAgain {
            let again = answers.values.filter { $0.count > 1 && $0[0].status == .granted }
            #expect(!again.isEmpty, "somebody was told GRANTED again")
        }
    }

    /// A rule that one purchase of the batch breaks, as a mistake of ours would.
    private static let refusing = """
        ALTER TABLE granting.lots ADD CONSTRAINT lots_test_refuses CHECK (transaction_id <> '142')
        """

    @Test func `of 64 purchases in hand the one the database rejects is parked, 63 are granted (R26)`() async throws {
        let granting = try await GrantingStage.make(Topology.grantingPurchases, "rejected", script: Self.refusing)
        try await onThread {
            let stage = granting.stage
            var configuration = stage.configuration()
            // One more than a batch, so that the message that is held leaves room for 64.
            configuration.prefetch = 65
            let hold = HoldOnce(batch: 2)
            let stop = StopSignal()
            let lane = stage.lane(configuration, stop: stop, probe: hold, handler: { GrantPurchases() })
            defer {
                hold.release()
                stop.stop()
                _ = lane.join(for: .seconds(60))
            }
            // The first opens the window, the second is held.
            try stage.publish([try granting.purchase(transaction("1"), by: "alice")])
            try eventually("the window is open") { hold.batches.count == 1 }
            try stage.publish([try granting.purchase(transaction("2"), by: "alice")])
            try eventually("the lane is held") { hold.isHolding }
            let batch = try (101...164).map { try granting.purchase(transaction("\($0)"), by: "user\($0 % 5)") }
            try stage.publish(batch)
            try eventually("all of them are in the lane's hands") { try stage.depth(stage.queue.name) == 0 }
            hold.release()
            try eventually(within: .seconds(60), "one is parked") { try stage.depth(stage.queue.parkedName) == 1 }
            stop.stop()
            #expect(lane.join(for: .seconds(60)))
            let guilty = batch[41].id
            let size = hold.batches.first { $0.contains(guilty) }?.count ?? 0
            #expect(size >= 32, "the guilty one had neighbours: \(size)")
            #expect(try granting.number("SELECT count(*) FROM granting.grants") == 65)
            #expect(try granting.granting.imbalances() == [])
            let answers = try stage.answers()
            let told = try answers.answers(PurchaseAnswered.self)
            #expect(batch.filter { $0.id != guilty }.allSatisfy { told[$0.id]?.map(\.status) == [.granted] })
            #expect(told[guilty] == nil)
            #expect(try answers.answers(RequestParked.self).keys.map { $0 } == [guilty])
            let reasons = try stage.parkedReasons()
            #expect(reasons.count == 1 && reasons[0].contains("23514") && reasons[0].contains("lots_test_refuses"))
            #expect(try stage.leftovers() == [])
        }
    }

    @Test func `a parked purchase that an operator sends back twice is granted once and answered the same (C18)`()
        async throws
    {
        let granting = try await GrantingStage.make(Topology.grantingPurchases, "replayed", script: Self.refusing)
        try await onThread {
            let stage = granting.stage
            let guilty = try granting.purchase(transaction("142"), by: "alice")
            try stage.publish([guilty])
            try stage.run(handler: { GrantPurchases() }) { try stage.depth(stage.queue.parkedName) == 1 }
            let parked = try #require(try stage.drain(stage.queue.parkedName).first)
            _ = try stage.answers()
            // The mistake is mended, and somebody presses the button twice.
            try granting.granting.database.execute("ALTER TABLE granting.lots DROP CONSTRAINT lots_test_refuses")
            let again = OutgoingMessage(
                exchange: Topology.retry,
                routingKey: Topology.RetryDelay.seconds5.routingKey(for: stage.queue.name), isMandatory: true,
                properties: parked.properties, body: parked.body)
            try stage.publish([again], copies: 2)
            try stage.run(handler: { GrantPurchases() }) { try stage.depth(LaneStage.replies) == 2 }
            #expect(try granting.balances() == ["alice DANBING": 60])
            #expect(try granting.number("SELECT count(*) FROM granting.grants") == 1)
            let told = try stage.facts().identifiers(PurchaseGranted.self) { $0.transactionID.rawValue }
            #expect(told.mapValues(\.count) == ["142": 1], "told under one id")
            let answers = try stage.answers().answers(PurchaseAnswered.self)
            #expect(answers[guilty.id]?.map(\.status) == [.granted, .granted])
            try granting.expectOrder()
        }
    }

    @Test func `two lanes with statements on one unclaimed purchase take turns, so that the newest stays (C10 R07)`()
        async throws
    {
        try await GrantingDatabase.with("turns") { granting in
            var session = try granting.open()
            _ = try session.run(GrantPurchases(), [try verified(transaction("1"), by: nil)])
            let older = try verified(transaction("1", signed: 1, hash: "01"), by: nil)
            var thread: NamedThread?
            // Another lane between its load and its save.
            _ = try session.connection.transaction { other in
                _ = try other.query("SELECT FROM granting.transactions FOR NO KEY UPDATE")
                thread = NamedThread.start(name: "second lane") {
                    guard var second = try? granting.open() else { return }
                    _ = try? second.run(GrantPurchases(), [older])
                }
                try eventually("the second lane waits for the first") { try !granting.rows(Self.waiting).isEmpty }
                _ = try other.query(
                    """
                    UPDATE granting.transactions SET signed_date = signed_date + 2, revocation_date = signed_date,
                        revoked_share = 100000, payload_hash = '02'
                    """)
            }
            #expect(thread?.join(for: .seconds(60)) == true)
            let share = try granting.rows("SELECT revoked_share, signed_date FROM granting.transactions").first
            #expect(try share?.int8("revoked_share") == 100_000 && share?.int8("signed_date") == Shop.day + 2)
        }
    }

    private static let waiting = """
        SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
        """
}
