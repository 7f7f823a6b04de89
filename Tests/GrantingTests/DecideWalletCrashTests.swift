import AMQP
import Messages
import Pipeline
import TestSupport
import Testing

@testable import Granting

/// Every place the lane of orders and spends can die at, on real parts.
@Suite(.serialized, .timeLimit(.minutes(5))) struct DecideWalletCrashTests {
    /// Six customers with 60 coins each make two orders, ask for their token twice and spend 25 three times, which is once too often; the first
    /// spend is asked for again by another message.
    private struct Story {
        static let users = (1...6).map { "user\($0)" }
        var orders: [OrderRequested] = []
        var orderMessages: [MessageID: OrderRequested] = [:]
        var tokens: [MessageID: UserID] = [:]
        var spends: [MessageID: SpendRequested] = [:]
        var messages: [OutgoingMessage] = []

        init(_ stage: LaneStage) throws {
            for user in Self.users {
                for number in 1...2 {
                    let order = OrderRequested(
                        app: Shop.app, userID: UserID(user), productID: Shop.coins60,
                        orderNumber: OrderNumber("\(user)-\(number)"), appAccountToken: UUIDText.random())
                    let message = try stage.request(order)
                    orders.append(order)
                    orderMessages[message.id] = order
                    messages.append(message)
                }
                for _ in 1...2 {
                    let message = try stage.request(
                        TokenRequested(
                            app: Shop.app, userID: UserID(user), appAccountToken: UUIDText.random(),
                            identities: [StarterDecisionTests.identity("a")]))
                    tokens[message.id] = UserID(user)
                    messages.append(message)
                }
                for source in ["a", "b", "c", "a"] {
                    let spend = SpendRequested(
                        app: Shop.app, userID: UserID(user), asset: Shop.coins, amount: 25, sourceID: source,
                        deadline: .max)
                    let message = try stage.request(spend)
                    spends[message.id] = spend
                    messages.append(message)
                }
            }
        }
    }

    @Test(arguments: LaneFault.allCases)
    func `every order is made and every spend decided once, told under one id and answered the same again (C1 to C8)`(
        fault: LaneFault
    ) async throws {
        let granting = try await GrantingStage.make(Topology.grantingWallet, fault.rawValue)
        try await onThread {
            var session = try granting.granting.open()
            _ = try session.run(
                GrantPurchases(), try Story.users.map { try verified(transaction("1" + $0.suffix(1)), by: $0) })
            let story = try Story(granting.stage)
            try granting.stage.survive(fault, story.messages, fact: .spendDecided, handler: { DecideWallet() }) {
                try granting.number("SELECT count(*) FROM granting.spends") == 18
                    && granting.number("SELECT count(*) FROM granting.orders") == 12
                    && granting.number("SELECT count(*) FROM granting.tokens") == 18
            }
            try granting.expectOrder()
            let expected = Dictionary(uniqueKeysWithValues: Story.users.map { ("\($0) DANBING", Int64(10)) })
            #expect(try granting.balances() == expected)
            #expect(try granting.number("SELECT count(*) FROM granting.spends WHERE outcome = 'spent'") == 12)
            #expect(try granting.number("SELECT count(*) FROM granting.ledger WHERE direction = 'OUT'") == 12)
            #expect(try granting.number("SELECT count(*) FROM granting.tokens WHERE order_number IS NULL") == 6)
            try Self.expectFacts(try granting.stage.facts(), story)
            try Self.expectAnswers(granting, story, fault)
        }
    }

    @Test(arguments: LaneFault.allCases)
    func `consent that was withdrawn stays withdrawn, whatever comes again (C1 to C8)`(fault: LaneFault) async throws {
        let granting = try await GrantingStage.make(Topology.grantingWallet, "consent_" + fault.rawValue)
        try await onThread {
            var messages: [OutgoingMessage] = []
            for user in Story.users {
                for (number, isGiven) in [true, true, false].enumerated() {
                    var message = try granting.stage.request(
                        ConsentChangeRequested(
                            app: Shop.app, userID: UserID(user), isGiven: isGiven, termsVersion: nil))
                    message.properties.headers[HeaderName.occurredAt] = .int64(1_780_000_000_000 + Int64(number))
                    messages.append(message)
                }
                messages.append(
                    try granting.stage.request(
                        SpendRequested(
                            app: Shop.app, userID: UserID(user), asset: Shop.coins, amount: 1, sourceID: "s",
                            deadline: .max)))
            }
            try granting.stage.survive(fault, messages, fact: .spendDecided, handler: { DecideWallet() }) {
                try granting.number("SELECT count(*) FROM granting.spends") == 6
                    && granting.number("SELECT count(DISTINCT customer) FROM granting.consents WHERE NOT is_given") == 6
            }
            try granting.expectOrder()
            #expect(
                try granting.number(
                    """
                    SELECT count(*) FROM granting.consents c WHERE c.is_given AND NOT EXISTS (
                        SELECT FROM granting.consents l WHERE l.customer = c.customer AND l.revision > c.revision)
                    """) == 0)
            let answers = try granting.stage.answers().answers(ConsentAnswered.self)
            #expect(answers.count == 18, "every request is answered")
        }
    }

    private static func expectFacts(_ facts: [Told], _ story: Story) throws {
        let orders = try facts.identifiers(OrderCreated.self) { $0.orderNumber.rawValue }
        #expect(Set(orders.keys) == Set(story.orders.map(\.orderNumber.rawValue)))
        #expect(orders.values.allSatisfy { $0.count == 1 }, "each told, under one id")
        let tokens = try facts.identifiers(TokenIssued.self) { $0.customer.rawValue }
        #expect(tokens.count == 6 && tokens.values.allSatisfy { $0.count == 1 })
        let spends = try facts.identifiers(SpendDecided.self) { "\($0.customer) \($0.sourceID)" }
        #expect(spends.count == 18 && spends.values.allSatisfy { $0.count == 1 })
    }

    private static func expectAnswers(_ granting: GrantingStage, _ story: Story, _ fault: LaneFault) throws {
        let answers = try granting.stage.answers()
        let orders = try answers.answers(OrderAnswered.self)
        for (message, order) in story.orderMessages {
            let told = orders[message] ?? []
            let isSame = told.allSatisfy {
                $0.code == nil && $0.orderNumber == order.orderNumber && $0.appAccountToken == order.appAccountToken
            }
            #expect(!told.isEmpty && isSame, "\(order.orderNumber): \(told)")
        }
        let tokens = try answers.answers(TokenAnswered.self)
        for user in Story.users {
            let told = story.tokens.filter { $0.value == UserID(user) }.flatMap { tokens[$0.key] ?? [] }
            #expect(Set(told.map(\.appAccountToken)).count == 1, "one token, the same at each request: \(told)")
        }
        let spends = try answers.answers(SpendAnswered.self)
        var bySpend: [String: [SpendAnswered]] = [:]
        for (message, spend) in story.spends {
            let told = spends[message] ?? []
            #expect(!told.isEmpty, "every request is answered")
            bySpend["\(spend.userID) \(spend.sourceID)", default: []] += told
        }
        #expect(bySpend.count == 18)
        for (spend, told) in bySpend { #expect(told.allSatisfy { $0 == told[0] }, "\(spend): \(told)") }
        for user in Story.users {
            let outcomes = ["a", "b", "c"].compactMap { bySpend["\(user) \($0)"]?.first?.outcome }
            #expect(outcomes.filter { $0 == .spent }.count == 2 && outcomes.contains(.notEnough))
        }
        if fault.answersAgain { #expect((orders.values.map(\.count) + spends.values.map(\.count)).contains { $0 > 1 }) }
    }
}
