import GameProtocol
import Testing

/// The game's protocol, byte by byte.
@Suite struct GameMessageTests {
    static let messages: [GameMessage] = [
        .verify(VerifyQuestion(receipt: "MIIabc=", productID: "com.ninjafall.gem_pack_1")),
        .verify(VerifyQuestion(receipt: "", productID: "")),
        .verified(VerifyAnswer(code: 0)),
        .verified(
            VerifyAnswer(
                code: -7, message: "钻石", rewardID: 2_001, productID: "gem", finish: true, amount: .max, balance: 60,
                transactionIDs: ["1", "2"], retryAfter: 5)),
        .history(HistoryQuestion()), .history(HistoryQuestion(limit: 10, cursor: "aGlzdG9yeQ")),
        .records(HistoryAnswer()), .records(HistoryAnswer(code: 11, message: "SERVICE_BUSY", retryAfter: 1)),
        .records(
            HistoryAnswer(
                records: [
                    HistoryRecord(
                        transactionID: "1", productID: "a", amount: 60, createdAt: 1, refundedAt: 2,
                        refundedShare: 50_000, isSandbox: true),
                    HistoryRecord(transactionID: "2", productID: "b", amount: .max, createdAt: .max),
                ], nextCursor: "bmV4dA")),
    ]

    @Test(arguments: messages) func `what is written is read back (C-024 C-025 C-026 C-027 C-028)`(
        message: GameMessage
    ) throws {
        #expect(try GameMessage(message.encoded()) == message)
    }

    @Test func `the bytes are those of the document's proto (C-024 C-025)`() throws {
        let question = GameMessage.verify(VerifyQuestion(receipt: "AB", productID: "p"))
        #expect(question.encoded() == [0, 50, 0x0A, 2, 0x41, 0x42, 0x12, 1, 0x70])
        let answer = GameMessage.verified(VerifyAnswer(code: 0, message: "ok", rewardID: 2_001))
        #expect(answer.encoded() == [0, 51, 0x12, 2, 0x6F, 0x6B, 0x18, 0xD1, 0x0F])
        #expect(GameMessage.history(HistoryQuestion()).encoded() == [0, 52])
        let record = HistoryRecord(transactionID: "1", productID: "p", amount: 60, createdAt: 5, refundedAt: 0)
        #expect(
            GameMessage.records(HistoryAnswer(records: [record])).encoded() == [
                0, 53, 0x0A, 10, 0x0A, 1, 0x31, 0x12, 1, 0x70, 0x18, 60, 0x20, 5,
            ])
    }

    @Test func `fields of later versions are passed over`() throws {
        let bytes = GameMessage.verify(VerifyQuestion(receipt: "AB", productID: "p")).encoded()
        #expect(try GameMessage(bytes + [0x7A, 1, 0xFF]) == .verify(VerifyQuestion(receipt: "AB", productID: "p")))
    }

    @Test(
        arguments: [
            ([], GameMessageError.tooShort), ([0], .tooShort), ([0, 49], .unknownID(49)),
            ([50, 0], .unknownID(12_800)),
            ([0, 50, 0x0A], .malformed), ([0, 50, 0x0A, 5, 0x41], .malformed), ([0, 50, 0x0B], .malformed),
            ([0, 50, 0x0A, 1, 0xFF], .malformed), ([0, 50] + [UInt8](repeating: 0xFF, count: 20), .malformed),
            ([0, 52, 0x0A, 1, 0x41], .malformed), ([0, 52, 0x12, 1, 0xFF], .malformed),
            ([0, 50] + [[UInt8]](repeating: [0x78, 1], count: 2_000).flatMap { $0 }, .tooManyFields),
        ] as [([UInt8], GameMessageError)])
    func `what is no message is refused by name`(bytes: [UInt8], error: GameMessageError) {
        #expect(throws: error) { try GameMessage(bytes) }
    }
}
