import FoundationEssentials
import Messages
import Testing

@testable import Gateway

/// The numbers that the game knows answers by.
@Suite struct GameCodeTests {
    /// Codes of calls that this surface does not have.
    private static let elsewhere: Set<ProblemCode> = [
        .orderNotFound, .orderUserMismatch, .orderProductMismatch, .orderingRestricted, .transactionNotFound,
        .spendingRestricted, .spendConflict, .spendDeadlinePassed, .balanceNotEnough, .timeNotEnough, .unknownAsset,
        .paymentProductMismatch, .paymentTransactionInvalid,
    ]

    @Test func `every number belongs to one code, and 0 to none`() {
        let numbers = GameCode.numbers.values + [GameCode.notInReceipt, GameCode.other, GameCode.delivered]
        #expect(Set(numbers).count == numbers.count)
    }

    @Test(arguments: AnswerCode.allCases)
    func `whatever can be said of a purchase has a number (C-025)`(_ code: AnswerCode) {
        let code = ProblemCode(code)
        #expect(Self.elsewhere.contains(code) || GameCode.numbers[code] != nil)
    }

    @Test func `the documented table is the one in force (C-025)`() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let file = root.appending(path: "docs/protocols/game/game-protocol.md")
        var documented: [String: String] = [:]
        for line in String(decoding: try Data(contentsOf: file), as: UTF8.self).split(separator: "\n") {
            let cells = line.split(separator: "|", omittingEmptySubsequences: false).map {
                PlainText.trimmed(String($0))
            }
            guard cells.count > 3, Int32(cells[1]) != nil, cells[2].hasPrefix("`") else { continue }
            documented[cells[1]] = cells[2]
        }
        var expected = [
            String(GameCode.notInReceipt): "`APPLE_TRANSACTION_VERIFY_FAILED`",
            String(GameCode.delivered): "`OK`",
        ]
        for (code, number) in GameCode.numbers { expected[String(number)] = "`\(code.rawValue)`" }
        #expect(documented == expected)
    }
}
