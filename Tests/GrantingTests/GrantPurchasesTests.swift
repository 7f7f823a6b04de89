import Messages
import Pipeline
import Postgres
import TestSupport
import Testing

@testable import Granting

@Suite struct GrantPurchasesTests {
    @Test func `order, purchase, spend, refund and every question about them (A-140 A-145)`() async throws {
        try await GrantingDatabase.with("whole_path") { granting in
            var session = try granting.open()
            let order = OrderRequested(
                app: Shop.app, userID: UserID("alice"), productID: Shop.coins60, orderNumber: OrderNumber("A1"),
                appAccountToken: Shop.aliceToken.uppercased())
            let ordered = try session.run(DecideWallet(), [try message(order)])
            #expect(try ordered[0].answer(OrderAnswered.self)?.appAccountToken == Shop.aliceToken)
            #expect(ordered[0].facts.map(\.type) == [.orderCreated])
            let purchase = transaction("1", token: Shop.aliceToken.uppercased())
            let granted = try session.run(
                GrantPurchases(), [try verified(purchase, by: "alice", order: OrderNumber("A1"))])
            #expect(try granted[0].answer(PurchaseAnswered.self)?.status == .granted)
            let spent = try session.run(DecideWallet(), [try spending(50, id: "s", by: "alice")])
            #expect(try spent[0].answer(SpendAnswered.self)?.balanceAfter == 10)
            let refund = try session.run(
                GrantPurchases(), [try verified(transaction("1", signed: 1, revoked: 100_000), by: nil)])
            #expect(refund[0].facts.map(\.type) == [.purchaseClawedBack, .riskFlagged])
            #expect(try granting.imbalances() == [])
            let owed = try #require(try granting.rows("SELECT * FROM granting.debts").first)
            #expect(try owed.int8("amount") == 50)
            try expectAnswers(&session)
        }
    }

    private func expectAnswers(_ session: inout Session) throws {
        let alice = UserID("alice")
        let answers = try session.run(
            AnswerQueries(),
            [
                try message(BalanceRequested(app: Shop.app, userID: alice)),
                try message(LedgerRequested(app: Shop.app, userID: alice, asset: nil, before: nil, limit: 2)),
                try message(TransactionRequested(app: Shop.app, userID: alice, transactionID: TransactionID("1"))),
                try message(
                    TransactionRequested(app: Shop.app, userID: UserID("bob"), transactionID: TransactionID("1"))),
                try message(CatalogRequested(app: Shop.app)), try message(CatalogRequested(app: Shop.otherApp)),
            ])
        #expect(try answers[0].answer(BalanceAnswered.self)?.balances == [AssetAmount(asset: Shop.coins, amount: 0)])
        let page = try #require(try answers[1].answer(LedgerAnswered.self))
        #expect(page.entries.map(\.sourceType) == ["APPLE_REFUND", "APP_USAGE"])
        #expect(page.entries.map(\.environment) == [.production, nil])
        let next = try session.run(
            AnswerQueries(),
            [
                try message(
                    LedgerRequested(
                        app: Shop.app, userID: alice, asset: Shop.coins, before: page.nextBefore, limit: 999))
            ])
        #expect(try next[0].answer(LedgerAnswered.self)?.entries.map(\.sourceID) == ["1/0"])
        #expect(try next[0].answer(LedgerAnswered.self)?.nextBefore == nil)
        let summary = try #require(try answers[2].answer(TransactionAnswered.self)?.transactions.first)
        #expect(summary.status == "REVOKED" && summary.orderNumber == OrderNumber("A1"))
        #expect(summary.amounts.map(\.amount) == [60])
        #expect(
            try answers[3].answer(TransactionAnswered.self)?.transactions == [], "another user's is not found (S34)")
        #expect(try answers[4].answer(CatalogAnswered.self)?.catalogVersion == 1)
        #expect(try answers[5].answer(CatalogAnswered.self)?.definition == nil)
    }

    @Test func `a redelivered message is answered GRANTED again, by a process that never saw it (A-094 C2 C3)`()
        async throws
    {
        try await GrantingDatabase.with("redelivery") { granting in
            let incoming = try verified(transaction("1"), by: "alice")
            var first = try granting.open()
            let before = try first.run(GrantPurchases(), [incoming])[0].answer(PurchaseAnswered.self)
            var second = try granting.open()
            let again = try second.run(GrantPurchases(), [incoming, try verified(transaction("1"), by: "alice")])
            #expect(try again[0].answer(PurchaseAnswered.self) == before)
            #expect(try again[1].answer(PurchaseAnswered.self)?.status == .alreadyGranted)
            #expect(again.flatMap(\.facts).isEmpty)
            #expect(try granting.rows("SELECT FROM granting.facts WHERE type = 'purchase.granted'").count == 1)
        }
    }

    @Test func `sixteen threads with one transaction make one grant (A-094 A-100 R06)`() async throws {
        let statuses = try await GrantingDatabase.with("threads") { granting in
            try together(16) { _ in
                var session = try granting.open()
                let outcome = try session.run(GrantPurchases(), [try verified(transaction("1"), by: "alice")])[0]
                return try outcome.answer(PurchaseAnswered.self)?.status
            }
        }
        #expect(statuses.filter { $0 == .granted }.count == 1)
        #expect(statuses.filter { $0 == .alreadyGranted }.count == 15)
        let granting = try await TestDatabase.shared("granting_threads")
        #expect(try await onThread { try GrantingDatabase(database: granting).imbalances() } == [])
    }

    @Test func `of sixteen users who claim one transaction at once exactly one gets it (BR17)`() async throws {
        let answers = try await GrantingDatabase.with("claimants") { granting in
            try together(16) { number in
                var session = try granting.open()
                let batch = try (1...4).map { try verified(transaction("\($0)"), by: "user-\(number)") }
                return try session.run(GrantPurchases(), number % 2 == 0 ? batch : batch.reversed()).map {
                    try $0.answer(PurchaseAnswered.self)
                }
            }
        }.joined()
        #expect(answers.filter { $0?.status == .granted }.count == 4)
        #expect(answers.filter { $0?.code == .transactionAlreadyBound }.count == 60)
    }

    @Test func `64 spends at once never take more than there is (A-137)`() async throws {
        let outcomes = try await GrantingDatabase.with("spends") { granting in
            var session = try granting.open()
            _ = try session.run(GrantPurchases(), [try verified(transaction("1", quantity: 2), by: "alice")])
            return try together(16) { number in
                var session = try granting.open()
                return try (0..<4).map { turn in
                    let incoming = try spending(7, id: "s\(number)-\(turn)", by: "alice")
                    return try session.run(DecideWallet(), [incoming])[0].answer(SpendAnswered.self)?.outcome
                }
            }.flatMap { $0 }
        }
        #expect(outcomes.filter { $0 == .spent }.count == 17, "120 / 7")
        #expect(outcomes.filter { $0 == .notEnough }.count == 47)
    }

    @Test func `a transaction claimed in between is decided with its owner's wallet locked`() async throws {
        try await GrantingDatabase.with("claimed_between") { granting in
            var session = try granting.open()
            // Bob exists before, so that what he waits for is the transaction and not the catalogue.
            _ = try session.run(DecideWallet(), [try spending(1, id: "x", by: "bob")])
            let bobs = try verified(transaction("1", signed: 1, revoked: 40_000), by: "bob")
            let late = Later {
                var other = try granting.open()
                return try other.run(GrantPurchases(), [bobs])[0]
            }
            var handler = GrantPurchases()
            _ = try session.run(&handler, [try verified(transaction("1"), by: "alice")]) {
                late.start()
                try eventually {
                    try granting.rows(
                        """
                        SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
                        """
                    ).count == 1
                }
            }
            let outcome = try late.value()
            #expect(try outcome.answer(PurchaseAnswered.self)?.code == .transactionAlreadyBound)
            #expect(outcome.facts.map(\.type) == [.purchaseClawedBack])
            #expect(try granting.imbalances() == [])
            #expect(try granting.rows("SELECT balance FROM granting.accounts").map { try $0.int8("balance") } == [36])
        }
    }

    @Test func `a token issued in between is decided with its customer's wallet locked`() async throws {
        try await GrantingDatabase.with("issued_between") { granting in
            var session = try granting.open()
            _ = try session.run(
                GrantPurchases(),
                [
                    try verified(transaction("1"), by: "bob"), try verified(transaction("2"), by: "alice"),
                    // Heard of before, without token and caller: it waits, claimable.
                    try verified(transaction("3"), by: nil),
                ])
            let batch = [
                try verified(transaction("4"), by: "alice"),
                try verified(transaction("3", token: Shop.bobToken, signed: 1), by: nil),
            ]
            let late = Later {
                var other = try granting.open()
                return try other.run(GrantPurchases(), batch)
            }
            var wallet = DecideWallet()
            var blocker = try granting.open()
            _ = try blocker.run(&wallet, [try spending(1, id: "x", by: "alice")]) {
                late.start()
                try eventually {
                    try granting.rows(
                        "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
                    ).count == 1
                }
                // The batch has looked ahead and waits for Alice's wallet; now Bob gets his token.
                let order = OrderRequested(
                    app: Shop.app, userID: UserID("bob"), productID: Shop.coins60, orderNumber: OrderNumber("B1"),
                    appAccountToken: Shop.bobToken)
                _ = try session.run(DecideWallet(), [try message(order)])
            }
            #expect(try late.value().map { $0.facts.map(\.type) } == [[.purchaseGranted], [.purchaseGranted]])
            #expect(try granting.imbalances() == [])
            let balances = try granting.rows("SELECT balance FROM granting.accounts ORDER BY balance")
            #expect(try balances.map { try $0.int8("balance") } == [119, 120])
        }
    }

    @Test func `a catalogue that a newer version stored makes the lane wait, nothing is parked (C19)`() async throws {
        try await GrantingDatabase.with("newer_catalogue") { granting in
            try granting.database.execute(
                """
                INSERT INTO granting.catalog_versions (app, version, actor, cause, definition, digest)
                VALUES ('\(Shop.app)', 2, 'op', gen_random_uuid(), '{"assets": "of tomorrow"}', sha256(''))
                """)
            var session = try granting.open()
            let error = #expect(throws: PostgresError.self) {
                _ = try session.run(GrantPurchases(), [try verified(transaction("1"), by: "alice")])
            }
            #expect(error?.retryClass == .notReady)
        }
    }

    @Test func `a body that cannot be read is parked and its neighbours are decided (R08)`() async throws {
        try await GrantingDatabase.with("unreadable") { granting in
            var session = try granting.open()
            let good = try verified(transaction("1"), by: "alice")
            let bad = Incoming(header: good.header, body: Array("{".utf8), isRedelivered: false)
            let outcomes = try session.run(GrantPurchases(), [bad, good])
            #expect(outcomes[0].parkedReason == Incoming.unreadable)
            #expect(try outcomes[1].answer(PurchaseAnswered.self)?.status == .granted)
            let odd = try session.run(
                DecideWallet(),
                [
                    try spending(0, id: "a", by: "alice"), try spending(1, id: "", by: "alice"),
                    try spending(1, id: "b", by: "alice"),
                ])
            #expect(odd.map(\.parkedReason) == ["spend.amount_invalid", "spend.source_id_invalid", nil])
        }
    }
}
