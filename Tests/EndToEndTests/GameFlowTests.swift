import AppStoreSimulation
import GameProtocol
import JSON
import Postgres
import TestSupport
import Testing

/// Document C's client, played against the real processes.
@Suite struct GameFlowTests {
    private static let gems = "com.ninjafall.gem_pack_1"

    private static func code(_ outcome: GameClient.Outcome) -> Int32? {
        switch outcome {
        case .delivered(let answer), .finished(let answer), .kept(let answer): answer.code
        case .unanswered: nil
        }
    }

    private static func ask(
        _ deployment: Deployment, _ user: String, _ receipt: String, _ product: String = gems
    ) throws -> VerifyAnswer {
        let connection = try GameConnection(
            base: deployment.gameGateway, token: try deployment.gameToken(user))
        let question = VerifyQuestion(receipt: receipt, productID: product)
        guard case .verified(let answer) = try connection.ask(.verify(question)) else {
            throw Places.Missing(description: "another answer than to verify")
        }
        return answer
    }

    @Test
    func `document C's nine steps with a restart in the middle: sent again, answered 0, once (C-019…C-047)`()
        async throws
    {
        let deployment = try await Deployment.shared("game")
        try await onThread {
            let user = "game-anna"
            // 1–3: the shop is open, the player taps, Apple charges. 4: the receipt is kept before anything is sent.
            let first = try deployment.game(user)
            let bought = try first.pay(Self.gems)
            // From its middle, where no wrapper's words are (C-115).
            Canaries.register("a receipt", [String(bought.receipt.dropFirst(600).prefix(80))])
            #expect(bought.receipt.utf8.count > 700)
            #expect(first.states == [.readyToBuy, .paying] && first.pendingCount == 1)
            // 5: sent, and the game dies before it hears the answer.
            let dying = try GameConnection(base: deployment.gameGateway, token: try deployment.gameToken(user))
            try dying.send(.verify(VerifyQuestion(receipt: bought.receipt, productID: bought.productID)))
            try eventually { try Books(deployment: deployment).grants(bought.transactionID) == 1 }
            // 6–9: started again; what is pending is sent again, answered 0, confirmed, shown.
            let second = try deployment.game(user)
            #expect(second.pendingCount == 1)
            let outcomes = try second.checkPendingPurchases()
            #expect(outcomes.map(Self.code) == [0])
            #expect(second.states.last == .success && second.shownBalance == 60 && second.pendingCount == 0)
            #expect(try deployment.store().unfinished(appleAccount: user, environment: "Production").isEmpty)
            #expect(try Books(deployment: deployment).grants(bought.transactionID) == 1)
            // Nothing is left to do at the next start.
            let third = try deployment.game(user)
            #expect(try third.checkPendingPurchases().isEmpty)
            let history = try third.history()
            #expect(history.map(\.transactionID) == [bought.transactionID])
            #expect(history.first?.amount == 60 && history.first?.refundedAt == 0 && history.first?.isSandbox == false)
            try Books(deployment: deployment).expectConsistent()
        }
    }

    @Test func `two pending purchases of one product are both delivered, each once (C-030 C-056)`() async throws {
        let deployment = try await Deployment.shared("game")
        try await onThread {
            let user = "game-bert"
            let game = try deployment.game(user)
            let bought = [try game.pay(Self.gems), try game.pay(Self.gems, quantity: 3)]
            #expect(game.pendingCount == 2)
            let outcomes = try deployment.game(user).checkPendingPurchases()
            #expect(outcomes.map(Self.code) == [0, 0])
            let amounts = outcomes.map { if case .delivered(let answer) = $0 { answer.amount } else { Int64(-1) } }
            #expect(amounts == [60, 180])
            for purchase in bought { #expect(try Books(deployment: deployment).grants(purchase.transactionID) == 1) }
            #expect(try deployment.game(user).history(pagesOf: 1).map(\.amount) == [180, 60])
        }
    }

    @Test func `one receipt with several purchases is one answer for all of them; the others answer 0 (C-033 C-059)`()
        async throws
    {
        let deployment = try await Deployment.shared("game")
        try await onThread {
            let game = try deployment.game("game-carl")
            let bought = try (1...3).map { _ in try game.pay(Self.gems) }
            let last = try #require(bought.last)
            let answer = try Self.ask(deployment, "game-carl", last.receipt)
            #expect(answer.code == 0 && answer.amount == 180 && answer.balance == 180 && answer.rewardID == 2_001)
            #expect(Set(answer.transactionIDs) == Set(bought.map(\.transactionID)))
            let outcomes = try game.checkPendingPurchases()
            #expect(outcomes.map(Self.code) == [0, 0, 0] && game.shownBalance == 180)
            // The receipt is taken in each of the forms clients have it in, and as StoreKit's transaction.
            let plain = try deployment.store().receipt(
                bundleID: Deployment.gameBundle, appleAccount: "game-carl", environment: "Production")
            #expect(try Self.ask(deployment, "game-carl", plain).code == 41, "all of it is finished")
            let fresh = try game.pay(Self.gems)
            let signed = try deployment.store().transaction(fresh.transactionID, environment: "Production")
            #expect(try Self.ask(deployment, "game-carl", signed.signedTransactionInfo).amount == 60)
            #expect(Self.code(try game.process(fresh)) == 0 && game.shownBalance == 240)
        }
    }

    @Test func `another player's receipt gives nothing, and tells nothing (C-063 C-066)`() async throws {
        let deployment = try await Deployment.shared("game")
        try await onThread {
            let bought = try deployment.game("game-dora").pay(Self.gems)
            #expect(try Self.ask(deployment, "game-dora", bought.receipt).code == 0)
            let stolen = try Self.ask(deployment, "game-emil", bought.receipt)
            #expect(stolen.code == 20 && !stolen.finish && stolen.transactionIDs.isEmpty && stolen.balance == 0)
            #expect(try deployment.game("game-emil").history().isEmpty)
            #expect(try deployment.game("game-dora").history().count == 1)
        }
    }

    @Test func `a sandbox receipt is for testers, and is marked (C-055)`() async throws {
        let deployment = try await Deployment.shared("game")
        try await onThread {
            let ordinary = try deployment.game("game-finn", environment: "Sandbox")
            let kept = try ordinary.buy(Self.gems)
            #expect(Self.code(kept) == 21 && ordinary.pendingCount == 1 && ordinary.states.last == .failed)
            let tester = try deployment.game(Deployment.tester, environment: "Sandbox")
            #expect(Self.code(try tester.buy(Self.gems)) == 0)
            #expect(try tester.history().first?.isSandbox == true)
        }
    }

    @Test func `what Apple has taken back is confirmed and not delivered, and the history says when (C-028 C-060)`()
        async throws
    {
        let deployment = try await Deployment.shared("game")
        try await onThread {
            let user = "game-gerd"
            let game = try deployment.game(user)
            let early = try deployment.game(user + "-2")
            // Refunded before it is ever sent.
            let refunded = try early.pay(Self.gems)
            _ = try deployment.store().refund(
                refunded.transactionID, environment: "Production", notification: .never)
            let receipt = try deployment.store().receipt(
                bundleID: Deployment.gameBundle, appleAccount: user + "-2", environment: "Production")
            let answer = try Self.ask(deployment, user + "-2", receipt)
            #expect(answer.code == 30 && answer.finish && answer.amount == 0)
            #expect(Self.code(try early.process(refunded)) == 30 && early.pendingCount == 0)
            #expect(try early.history().isEmpty)
            // Refunded after it was delivered, while the store has it unfinished.
            let bought = try game.pay(Self.gems)
            #expect(try Self.ask(deployment, user, bought.receipt).code == 0)
            _ = try deployment.store().refund(bought.transactionID, environment: "Production", notification: .never)
            let newer = try deployment.store().receipt(
                bundleID: Deployment.gameBundle, appleAccount: user, environment: "Production")
            #expect(try Self.ask(deployment, user, newer).code == 30)
            let record = try #require(try game.history().first)
            #expect(record.amount == 60 && record.refundedAt >= record.createdAt && record.refundedShare == 100_000)
        }
    }

    @Test func `the same in JSON; cards are extended, and last as long as was paid for (C-011 C-014 C-017)`()
        async throws
    {
        let deployment = try await Deployment.shared("game")
        try await onThread {
            let user = "game-hans"
            let card = "com.ninjafall.monthly_card"
            let game = try deployment.game(user)
            var backend = try deployment.gameBackend(user)
            func send(_ purchase: GameClient.Pending) throws -> JSONObject {
                try backend.send(
                    "POST", "/iap/verify",
                    ["receipt": .string(purchase.receipt), "productId": .string(purchase.productID)])
            }
            func days() throws -> Int64 {
                try Books(deployment: deployment).number(
                    """
                    SELECT coalesce(sum(p.entitlement_days), 0)::bigint FROM granting.grants g
                    JOIN granting.customers c USING (customer) JOIN granting.product_versions p
                        ON p.app = g.app AND p.product_id = g.product_id AND p.version = g.product_version
                    WHERE c.user_id = $1
                    """, [.text(user)])
            }
            func until() throws -> String {
                let cards = try backend.send("GET", "/iap/entitlements")["entitlements"]?.arrayValue ?? []
                return cards.first?.objectValue?["until"]?.stringValue ?? ""
            }
            #expect(try send(try game.pay(card))["number"] == 0)
            let one = try until()
            let second = try game.pay(card)
            let answer = try send(second)
            #expect(answer["code"] == "OK" && answer["finish"] == true && answer["amount"] == 0)
            #expect(try days() == 60 && until() > one, "RFC 3339 in UTC sorts by time")
            #expect(try send(second)["msg"] == "already granted")
            #expect(try days() == 60)
            let unknown = try game.pay("com.ninjafall.not_in_the_catalogue")
            do throws(BackendError) {
                _ = try backend.send(
                    "POST", "/iap/verify",
                    ["receipt": .string(unknown.receipt), "productId": .string(unknown.productID)])
                Issue.record("a product that nobody knows was delivered")
            } catch {
                guard case .problem(let problem) = error else { throw error }
                #expect(problem.status == 404 && !problem.mayFinish && problem.body["number"] == 14)
            }
        }
    }

    @Test func `a gateway that is stopped says so to its sockets, and the game goes on with the next one (C-029 R27)`()
        async throws
    {
        try await onThread {
            let deployment = try Deployment.start("game_stop", on: try Platform.shared())
            defer { deployment.remove() }
            let idle = try GameConnection(
                base: deployment.gameGateway, token: try deployment.gameToken("game-ida"))
            let game = try deployment.game(
                "game-ida", wait: { _ in try? deployment.start([.gateway]) })
            #expect(Self.code(try game.buy(Self.gems)) == 0)
            let began = ContinuousClock.now
            #expect(deployment.stop(.gateway) == .exit(0))
            #expect(ContinuousClock.now - began < .seconds(10))
            #expect(throws: GameConnectionError.closed(code: 1_001, reason: "the server stops")) {
                _ = try idle.ask(.history(HistoryQuestion()))
            }
            // Unanswered, waited (and the gateway is there again), answered.
            #expect(Self.code(try game.buy(Self.gems)) == 0)
            #expect(game.shownBalance == 120)
            try Books(deployment: deployment).expectConsistent()
        }
    }
}
