@testable import Messages

/// Messages about users, and about sweeps of the sandbox.
extension GoldenMessageTests {
    private static let taken = [AssetAmount(asset: .init("COINS"), amount: 120)]
    private static let number = "7b1f4a52-0000-4000-8000-0000000000aa"

    static let userSamples: [Sample] = [
        Sample(
            UserEraseRequested(
                app: .init("app"), userID: .init("u1"), formerIDs: [.init("guest-1")], actor: "op",
                reason: "asked by letter")),
        Sample(UserEraseAnswered(customer: customer)), Sample(UserErased(customer: customer, actor: "op")),
        Sample(EvidenceEraseRequested(erasure: .init(number), after: 50_000, last: 1_234_567)),
        Sample(
            UserTransferRequested(
                app: .init("app"), fromUserID: .init("guest-1"), toUserID: .init("u1"), requestID: number, actor: "op",
                reason: "registered")),
        Sample(UserTransferAnswered(outcome: .userHasBooks)),
        Sample(UserTransferred(customer: customer, actor: "op", userDigest: digest)),
        Sample(
            SandboxSweepRequested(
                app: .init("app"), sweep: number, before: 1_760_000_000_000, after: .init("2000000000000001"),
                actor: "op", isDryRun: true)),
        Sample(SandboxSweepAnswered(purchases: 100, amounts: taken, next: .init("2000000000000100"))),
        Sample(
            SandboxSwept(
                customer: customer, sweep: number, transactionIDs: [.init("2000000000000001")], taken: taken,
                balances: taken)),
    ]
}
