import Messages
import Pipeline
import TestSupport
import Testing

@testable import Granting

/// What became of purchases, from a real database.
@Suite(.timeLimit(.minutes(2))) struct StateQueryTests {
    private static func states(
        _ session: inout Session, _ ids: [String], _ environment: StoreEnvironment = .production
    ) throws -> [PurchaseState] {
        let keys = ids.map { PurchaseKey(environment: environment, transactionID: TransactionID($0)) }
        let outcome = try session.run(AnswerQueries(), [try message(PurchaseStatesRequested(keys: keys))])[0]
        return try #require(try outcome.answer(PurchaseStatesAnswered.self)).states
    }

    @Test func `a purchase is granted, held, nobody's, refunded, or has never been heard of (A-123)`()
        async throws
    {
        try await GrantingDatabase.with("states", Shop.definition()) { granting in
            var session = try granting.open()
            _ = try session.run(
                GrantPurchases(),
                [
                    try verified(transaction("1"), by: "alice"),
                    try verified(transaction("2", ProductID("never_sold")), by: "alice"),
                    try verified(transaction("3"), by: nil),
                    try verified(transaction("4", signed: 1, revoked: 100_000), by: nil),
                ])
            let states = try Self.states(&session, ["1", "2", "3", "4", "5"])
            #expect(
                Dictionary(uniqueKeysWithValues: states.map { ($0.transactionID.rawValue, $0.outcome) }) == [
                    "1": .granted, "2": .held, "3": .unclaimed, "4": .refunded, "5": .unknown,
                ])
            #expect(states.first { $0.outcome == .held }?.reason == .unknownProduct)
            // The newest statement, and what it takes back.
            #expect(states.map(\.revokedShare) == [0, 0, 0, 100_000, nil])
            let refund = try #require(states.first { $0.outcome == .refunded })
            #expect(refund.signedDate == transaction("4", signed: 1).signedDate)
            #expect(try Self.states(&session, ["1"], .sandbox).map(\.outcome) == [.unknown])
            #expect(try Self.states(&session, (1...600).map { String($0) }).count == PurchaseStatesRequested.mostKeys)
        }
    }
}
