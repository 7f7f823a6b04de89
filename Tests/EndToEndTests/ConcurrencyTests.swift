import AppStoreSimulation
import JSON
import Postgres
import Runtime
import Synchronization
import TestSupport
import Testing

@Suite struct ConcurrencyTests {
    /// Runs `body` on `count` threads that begin together, and gives what each returned, in no order.
    private static func together<Value: Sendable>(
        _ count: Int, _ body: @escaping @Sendable (Int) throws -> Value
    ) throws -> [Value] {
        let start = StopSignal()
        let results = Mutex<[Result<Value, any Error>]>([])
        let threads = (0..<count).map { index in
            NamedThread.start(name: "client-\(index)") {
                start.wait()
                let result = Result { try body(index) }
                results.withLock { $0.append(result) }
            }
        }
        start.stop()
        for thread in threads { thread.join() }
        return try results.withLock { try $0.map { try $0.get() } }
    }

    @Test
    func `sixteen devices of one user send one purchase at once: one grant, fifteen idempotent answers (R18, A-094)`()
        async throws
    {
        let deployment = try await Deployment.shared("purchases")
        try await onThread {
            let user = "r18-anna"
            var backend = try deployment.backend(user)
            let order = try backend.order("pyy_danbing_680")
            let purchase = try deployment.purchase("pyy_danbing_680", account: user, token: order.appAccountToken)
            let answers = try Self.together(16) { _ in
                var backend = try deployment.backend(user)
                return try backend.verify(purchase.signedTransactionInfo, orderNumber: order.number)
            }
            #expect(answers.count { $0.status == "GRANTED" } == 1)
            #expect(answers.count { $0.status == "ALREADY_GRANTED" } == 15)
            #expect(answers.allSatisfy { $0.balance == ["danbing": 680, "timeMinutes": 0] })
            let books = Books(deployment: deployment)
            #expect(try books.grants(purchase.transactionID) == 1)
            try books.expectConsistent()
        }
    }

    @Test func `one purchase sent a thousand times is granted once and answered so each time (S23)`() async throws {
        // The deployment in which one user may ask without limit.
        let deployment = try await Deployment.shared("hostile")
        try await onThread {
            let user = "s23-anna"
            var backend = try deployment.backend(user)
            let order = try backend.order("pyy_danbing_680")
            let purchase = try deployment.purchase("pyy_danbing_680", account: user, token: order.appAccountToken)
            let signed = purchase.signedTransactionInfo
            let answers = try Self.together(8) { index in
                var backend = try deployment.backend(user)
                return try (0..<125).map { round in
                    // Half of them as a client that lost its order does.
                    let number = (index + round).isMultiple(of: 2) ? order.number : nil
                    return try backend.verify(signed, orderNumber: number).status
                }
            }.flatMap(\.self)
            #expect(answers.count == 1_000)
            #expect(answers.count { $0 == "GRANTED" } == 1)
            #expect(answers.count { $0 == "ALREADY_GRANTED" } == 999)
            let books = Books(deployment: deployment)
            #expect(try books.grants(purchase.transactionID) == 1)
            #expect(try books.balances(user) == ["DANBING": 680])
            let kept = "SELECT count(*) FROM verification.evidence WHERE transaction_id = $1"
            #expect(try books.number(kept, [.text(purchase.transactionID)]) == 1, "one evidence, not a thousand")
        }
    }

    @Test func `sixteen users send one purchase at once: one owner, fifteen refusals that reveal nothing (R18)`()
        async throws
    {
        let deployment = try await Deployment.shared("purchases")
        try await onThread {
            // Without a token: nothing but the first claim says whose it is.
            let purchase = try deployment.purchase("pyy_danbing_60", account: "r18-stranger")
            let answers = try Self.together(16) { index -> (granted: Bool, problem: BackendProblem?) in
                var backend = try deployment.backend("r18-user-\(index)")
                do throws(BackendError) {
                    return (try backend.verify(purchase.signedTransactionInfo, orderNumber: nil).isNew, nil)
                } catch {
                    guard case .problem(let problem) = error else { throw error }
                    return (false, problem)
                }
            }
            #expect(answers.count { $0.granted } == 1)
            let problems = answers.compactMap(\.problem)
            #expect(problems.count == 15)
            for problem in problems {
                #expect(problem.status == 409)
                #expect(problem.code == "TRANSACTION_ALREADY_BOUND_TO_OTHER_USER")
                #expect(!problem.mayFinish)
                // Nothing but the problem itself: no user, no order, no product, no balance.
                let allowed: Set = [
                    "type", "title", "status", "detail", "instance", "code", "requestId", "mayFinish",
                ]
                #expect(Set(problem.body.keys).isSubset(of: allowed))
                #expect(!problem.detail.contains("r18-"))
            }
            let books = Books(deployment: deployment)
            #expect(try books.grants(purchase.transactionID) == 1)
            var total: Int64 = 0
            for index in 0..<16 { total += try books.balances("r18-user-\(index)")["DANBING"] ?? 0 }
            #expect(total == 60)
            try books.expectConsistent()
        }
    }

    @Test func `thirty-two spends at once never overdraw, and repeats take nothing (R19 small, A-139)`() async throws {
        let deployment = try await Deployment.shared("purchases")
        try await onThread {
            let user = "r19-anna"
            guard case .delivered = try deployment.device(user).buy("pyy_timecard_60m") else {
                Issue.record("not delivered")
                return
            }
            // 16 spends of 10 minutes, each sent twice: 60 minutes hold six of them.
            let outcomes = try Self.together(32) { index -> String in
                var server = try deployment.serverBackend()
                do throws(BackendError) {
                    let answer = try server.send(
                        "POST", "/api/wallet/consume",
                        [
                            "userId": .string(user), "assetType": "TIME_MINUTES", "amount": 10,
                            "sourceId": .string("r19-\(index / 2)"), "deadline": "2099-01-01T00:00:00Z",
                        ])
                    return answer["status"]?.stringValue ?? "?"
                } catch {
                    return error.code
                }
            }
            #expect(outcomes.count { $0 == "SPENT" } == 12)
            #expect(outcomes.count { $0 == "TIME_NOT_ENOUGH" } == 20)
            var backend = try deployment.backend(user)
            #expect(try backend.balance() == ["danbing": 0, "timeMinutes": 0])
            try Books(deployment: deployment).expectConsistent()
        }
    }
}
