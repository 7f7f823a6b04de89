import Testing

@testable import AMQP

/// Transcripts of a channel in confirm mode.
@Suite struct ConfirmLedgerTests {
    private func ledger(publishing count: Int, sameID: Bool = false) -> ConfirmLedger {
        var ledger = ConfirmLedger()
        for token in 0..<count { ledger.add(identity(sameID ? 0 : token), size: 10, token: token) }
        return ledger
    }

    private func identity(_ number: Int) -> ConfirmLedger.Identity {
        .init(messageID: "m\(number)", exchange: "purser", routingKey: "purchase.submitted")
    }

    private func tokens(_ settlements: [ConfirmLedger.Settlement]) -> [Int] { settlements.map(\.token) }

    @Test func `tags count from one`() {
        var ledger = ConfirmLedger()
        #expect(ledger.add(identity(0), size: 1, token: 0) == 1)
        #expect(ledger.add(identity(1), size: 1, token: 1) == 2)
        #expect(ledger.inFlight == 2)
        #expect(ledger.bytesInFlight == 2)
    }

    @Test func `singles settle in any order`() throws {
        var ledger = ledger(publishing: 4)
        for tag in [3, 1, 4, 2] as [UInt64] {
            #expect(try tokens(ledger.settle(tag: tag, isMultiple: false, isAccepted: true)) == [Int(tag) - 1])
        }
        #expect(ledger.inFlight == 0)
        #expect(ledger.bytesInFlight == 0)
        #expect(ledger.add(identity(9), size: 1, token: 9) == 5)
    }

    @Test func `a multiple settles all up to its tag but those settled before`() throws {
        var ledger = ledger(publishing: 6)
        #expect(try tokens(ledger.settle(tag: 2, isMultiple: false, isAccepted: true)) == [1])
        #expect(try tokens(ledger.settle(tag: 4, isMultiple: true, isAccepted: true)) == [0, 2, 3])
        #expect(try tokens(ledger.settle(tag: 5, isMultiple: true, isAccepted: false)) == [4])
        #expect(ledger.inFlight == 1)
    }

    @Test func `tag zero with multiple means everything`() throws {
        var ledger = ledger(publishing: 3)
        #expect(try tokens(ledger.settle(tag: 0, isMultiple: true, isAccepted: true)) == [0, 1, 2])
        #expect(try ledger.settle(tag: 0, isMultiple: true, isAccepted: true) == [])
    }

    @Test func `a return comes before its confirm and turns it into failure`() throws {
        var ledger = ledger(publishing: 3)
        try ledger.markReturned(identity(1), code: 312, text: "NO_ROUTE")
        #expect(
            try ledger.settle(tag: 3, isMultiple: true, isAccepted: true) == [
                .init(token: 0, verdict: .confirmed), .init(token: 1, verdict: .returned(code: 312, text: "NO_ROUTE")),
                .init(token: 2, verdict: .confirmed),
            ])
    }

    @Test func `copies of one message come back one by one`() throws {
        var ledger = ledger(publishing: 2, sameID: true)
        try ledger.markReturned(identity(0), code: 312, text: "")
        #expect(try ledger.settle(tag: 1, isMultiple: false, isAccepted: true)[0].verdict != .confirmed)
        try ledger.markReturned(identity(0), code: 312, text: "")
        #expect(try ledger.settle(tag: 2, isMultiple: false, isAccepted: true)[0].verdict != .confirmed)
    }

    @Test func `a rejected message is rejected even if it came back`() throws {
        var ledger = ledger(publishing: 1)
        try ledger.markReturned(identity(0), code: 312, text: "")
        #expect(
            try ledger.settle(tag: 1, isMultiple: false, isAccepted: false) == [.init(token: 0, verdict: .rejected)])
    }

    @Test func `messages nobody waits for are counted but not reported`() throws {
        var ledger = ConfirmLedger()
        ledger.add(identity(0), size: 5, token: nil)
        ledger.add(identity(1), size: 5, token: 1)
        #expect(try tokens(ledger.settle(tag: 2, isMultiple: true, isAccepted: true)) == [1])
        ledger.add(identity(2), size: 5, token: 2)
        ledger.forgetTokens()
        #expect(try ledger.settle(tag: 3, isMultiple: false, isAccepted: true) == [])
        #expect(ledger.inFlight == 0)
    }

    @Test func `a repeated confirm changes nothing`() throws {
        var ledger = ledger(publishing: 3)
        _ = try ledger.settle(tag: 2, isMultiple: true, isAccepted: true)
        #expect(try ledger.settle(tag: 1, isMultiple: true, isAccepted: true) == [])
        #expect(try ledger.settle(tag: 2, isMultiple: false, isAccepted: true) == [])
        #expect(ledger.inFlight == 1)
    }

    @Test func `a confirm or return of what was not published breaks the protocol`() throws {
        var ledger = ledger(publishing: 1)
        #expect(throws: AMQPError.self) { try ledger.settle(tag: 2, isMultiple: false, isAccepted: true) }
        #expect(throws: AMQPError.self) { try ledger.settle(tag: 0, isMultiple: false, isAccepted: true) }
        #expect(throws: AMQPError.self) { try ledger.markReturned(identity(7), code: 312, text: "") }
    }

    @Test(arguments: [1, 2, 3, 4, 5] as [UInt64])
    func `any mixture of singles and multiples settles each message once`(_ seed: UInt64) throws {
        var generator = SmallGenerator(state: seed)
        var ledger = ConfirmLedger()
        var open: Set<UInt64> = []
        var settled: [Int: Int] = [:]
        var published = 0
        for _ in 0..<5_000 {
            if open.count < 100, Bool.random(using: &generator) {
                open.insert(ledger.add(identity(published), size: 1, token: published))
                published += 1
            } else if let tag = open.randomElement(using: &generator) {
                let isMultiple = Int.random(in: 0..<10, using: &generator) == 0
                for settlement in try ledger.settle(tag: tag, isMultiple: isMultiple, isAccepted: true) {
                    settled[settlement.token, default: 0] += 1
                }
                if isMultiple { open = open.filter { $0 > tag } } else { open.remove(tag) }
            }
            #expect(ledger.inFlight == open.count)
        }
        _ = try ledger.settle(tag: 0, isMultiple: true, isAccepted: true).map { settled[$0.token, default: 0] += 1 }
        #expect(settled.count == published)
        #expect(settled.values.allSatisfy { $0 == 1 })
    }
}

/// A repeatable generator (xorshift64*).
struct SmallGenerator: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
        state ^= state >> 12
        state ^= state << 25
        state ^= state >> 27
        return state &* 2_685_821_657_736_338_717
    }
}
