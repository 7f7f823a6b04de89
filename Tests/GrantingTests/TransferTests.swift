import Messages
import Pipeline
import TestSupport
import Testing

@testable import Granting

/// Guests who register, on the real tables.
@Suite(.timeLimit(.minutes(2))) struct TransferTests {
    private static func outcome(_ outcome: Outcome) throws -> TransferOutcome? {
        try outcome.answer(UserTransferAnswered.self)?.outcome
    }

    @Test func `a guest's wallet becomes the registered user's, with everything in it`() async throws {
        try await GrantingDatabase.with("transfer") { granting in
            var session = try granting.open()
            _ = try session.run(DecideWallet(), [try ordering("G1", token: Shop.aliceToken, by: "guest")])
            _ = try session.run(GrantPurchases(), [try verified(transaction("1"), by: "guest")])
            let moved = try session.run(RunCommands(), [try transferring("guest", to: "alice")])[0]
            #expect(try Self.outcome(moved) == .transferred)
            #expect(moved.facts.map(\.type) == [.userTransferred])
            #expect(try granting.coins() == ["alice": 60])
            // Bought with the guest's order, delivered to the registered user.
            let bought = try session.run(
                GrantPurchases(),
                [try verified(transaction("2", token: Shop.aliceToken), by: "alice", order: OrderNumber("G1")).later])[
                    0]
            #expect(try bought.answer(PurchaseAnswered.self)?.status == .granted)
            // A refund of what the guest bought takes from the user.
            _ = try session.run(
                ApplyNotifications(), [try notified(.refund, transaction("1", signed: 1, revoked: 100_000))])
            #expect(try granting.coins() == ["alice": 60])
            #expect(try granting.imbalances() == [])
        }
    }

    @Test func `the same request gets the same answer, another with its number is refused`() async throws {
        try await GrantingDatabase.with("transfer_repeated") { granting in
            var session = try granting.open()
            _ = try session.run(GrantPurchases(), [try verified(transaction("1"), by: "guest")])
            let unknown = try transferring("ghost", to: "alice", request: "00000000-0000-4000-8000-0000000000a2")
            let all = try session.run(
                RunCommands(),
                [
                    try transferring("guest", to: "alice"), try transferring("guest", to: "alice"),
                    try transferring("guest", to: "bob"), unknown,
                ])
            #expect(try all.map(Self.outcome) == [.transferred, .transferred, .requestConflict, .unknownGuest])
            #expect(all.flatMap(\.facts).count == 1)
            // A refusal is final too.
            _ = try session.run(GrantPurchases(), [try verified(transaction("2"), by: "ghost")])
            #expect(try Self.outcome(session.run(RunCommands(), [unknown])[0]) == .unknownGuest)
            #expect(try granting.users() == ["alice", "ghost"])
        }
    }

    @Test(arguments: ["purchase", "order", "token", "spend", "consent", "held"])
    func `two wallets are never merged: a user with books of any kind is refused`(book: String) async throws {
        try await GrantingDatabase.with("transfer_\(book)") { granting in
            var session = try granting.open()
            _ = try session.run(GrantPurchases(), [try verified(transaction("1"), by: "guest")])
            switch book {
            case "purchase": _ = try session.run(GrantPurchases(), [try verified(transaction("2"), by: "bob")])
            case "held":
                _ = try session.run(
                    GrantPurchases(), [try verified(transaction("2", environment: .sandbox), by: "bob")])
            default:
                let request: Incoming =
                    switch book {
                    case "order": try ordering("B1", token: Shop.bobToken, by: "bob")
                    case "token":
                        try message(
                            TokenRequested(app: Shop.app, userID: UserID("bob"), appAccountToken: Shop.bobToken))
                    case "consent":
                        try message(
                            ConsentChangeRequested(
                                app: Shop.app, userID: UserID("bob"), isGiven: false, termsVersion: nil))
                    default: try spending(5, id: "s", by: "bob")
                    }
                _ = try session.run(DecideWallet(), [request])
            }
            let refused = try session.run(RunCommands(), [try transferring("guest", to: "bob")])[0]
            #expect(try Self.outcome(refused) == .userHasBooks && refused.facts.isEmpty)
            #expect(try granting.users() == ["bob", "guest"])
        }
    }

    @Test func `a user who was only refused has no books, and gets the guest's`() async throws {
        try await GrantingDatabase.with("transfer_empty") { granting in
            var session = try granting.open()
            _ = try session.run(GrantPurchases(), [try verified(transaction("1"), by: "guest")])
            _ = try session.run(GrantPurchases(), [try verified(transaction("1"), by: "bob")])
            #expect(try granting.users() == ["bob", "guest"])
            let moved = try session.run(RunCommands(), [try transferring("guest", to: "bob")])[0]
            #expect(try Self.outcome(moved) == .transferred)
            #expect(try granting.users() == ["bob", "-"] && granting.coins() == ["bob": 60])
        }
    }

    @Test(arguments: [true, false])
    func `what a guest sent before registering is the registered user's, whenever it is handled`(
        isTransferredFirst: Bool
    ) async throws {
        try await GrantingDatabase.with("transfer_race_\(isTransferredFirst)") { granting in
            var session = try granting.open()
            _ = try session.run(GrantPurchases(), [try verified(transaction("1"), by: "guest")])
            func handle() throws {
                _ = try session.run(GrantPurchases(), [try verified(transaction("2"), by: "guest")])
                _ = try session.run(DecideWallet(), [try spending(10, id: "s", by: "guest")])
            }
            if !isTransferredFirst { try handle() }
            _ = try session.run(RunCommands(), [try transferring("guest", to: "alice")])
            try handle()
            #expect(try granting.coins() == ["alice": 110])
            #expect(try granting.users() == ["alice"])
            // The same guest account used again, by somebody else perhaps, is nobody we know.
            _ = try session.run(GrantPurchases(), [try verified(transaction("3"), by: "guest").later])
            #expect(try granting.coins() == ["alice": 110, "guest": 60])
            #expect(try granting.imbalances() == [])
        }
    }
}
