import GameProtocol
import TestSupport

/// The game's protobuf messages. What is read is written as something that is read as the same.
struct GameMessageTarget: FuzzTarget {
    let seeds: [[UInt8]]
    let words = ["\u{0}\u{32}\n", "\u{0}\u{35}\n", "\u{12}\u{0}", "\u{18}\u{7F}", "\u{7F}\u{7F}\u{7F}\u{7F}\u{7}"]

    init(_ files: FuzzFiles) {
        let record = HistoryRecord(transactionID: "1", productID: "gem", amount: 60, createdAt: 1, refundedAt: 2)
        let messages: [GameMessage] = [
            .verify(VerifyQuestion(receipt: String(repeating: "MIIA", count: 50), productID: "gem")),
            .verified(
                VerifyAnswer(
                    code: 3, message: "later", rewardID: 2_001, productID: "gem", finish: true, amount: -1,
                    balance: .max, transactionIDs: ["1", "2"], retryAfter: 5)),
            .history(HistoryQuestion(limit: 5, cursor: "bmV4dA")),
            .records(HistoryAnswer(code: 1, message: "later", records: [record, record], nextCursor: "bmV4dA")),
        ]
        seeds = messages.map { $0.encoded() } + files.corpus("game")
    }

    mutating func run(_ input: [UInt8]) throws(Violation) -> Bool {
        guard let message = try? GameMessage(input) else { return false }
        guard let again = try? GameMessage(message.encoded()) else {
            throw Violation(what: "it does not read what it wrote")
        }
        try Violation.unless(again == message, "what was written is read as something else")
        return true
    }
}
