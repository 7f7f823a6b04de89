import AppStoreSimulation
import Testing

/// After everything that broke: each purchase granted once, every book the sum of what was bought.
func expectEachGrantedOnce(
    _ bought: [PurchaseLoad.Bought], on deployment: Deployment, sourceLocation: SourceLocation = #_sourceLocation
) throws {
    let books = Books(deployment: deployment)
    #expect(Set(bought.map(\.transactionID)).count == bought.count, sourceLocation: sourceLocation)
    var expected: [String: Int64] = [:]
    for purchase in bought {
        expected[purchase.user, default: 0] += purchase.amount
        let granted = purchase.answers.count { $0 == "GRANTED" }
        let already = purchase.answers.count { $0 == "ALREADY_GRANTED" }
        #expect(granted <= 1 && granted + already == purchase.answers.count, sourceLocation: sourceLocation)
    }
    #expect(try books.granted().sorted() == bought.map(\.transactionID).sorted(), sourceLocation: sourceLocation)
    #expect(
        try books.balances() == expected.mapValues { ["DANBING": $0] }, "the wallets are not what was bought",
        sourceLocation: sourceLocation)
    for (user, amount) in expected {
        var backend = try deployment.backend(user)
        #expect(try backend.balance()["danbing"] == amount, sourceLocation: sourceLocation)
    }
    try books.expectConsistent(sourceLocation: sourceLocation)
    for queue in ["verification.purchases", "granting.purchases", "granting.wallet"] {
        #expect(try deployment.messages(in: queue + ".parked") == 0, "\(queue)", sourceLocation: sourceLocation)
    }
}
