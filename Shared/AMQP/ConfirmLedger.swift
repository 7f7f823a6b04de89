/// The bookkeeping of publisher confirms on one channel. Pure: no socket, no clock.
///
/// Tags count from 1, one for each publish. Confirms come for single tags in any order and for "all up to"; the return
/// of an unroutable message comes before its confirm and carries no tag, so it is matched by what it was published with.
struct ConfirmLedger {
    /// What a returned message is recognised by.
    struct Identity: Sendable, Equatable {
        var messageID: String?
        var exchange: String
        var routingKey: String
    }

    /// How a publish ended.
    enum Verdict: Sendable, Equatable {
        case confirmed
        case returned(code: Int, text: String)
        /// The broker could not take it (queue full, leader lost): publish it again.
        case rejected
    }

    /// A settled publish of the current round.
    struct Settlement: Sendable, Equatable {
        var token: Int
        var verdict: Verdict
    }

    private struct Entry {
        var identity: Identity
        var size: Int
        /// Which message of the current round it is; nil if nobody waits for it.
        var token: Int?
        var isSettled = false
        var returned: Verdict?
    }

    /// The entry of `lowestTag` is at `head`; all before are settled.
    private var entries: [Entry] = []
    private var head = 0
    private var lowestTag: UInt64 = 1

    /// Publishes without confirm yet.
    private(set) var inFlight = 0
    /// Their bodies' bytes.
    private(set) var bytesInFlight = 0

    /// Notes a publish that is about to be sent; answers its tag.
    @discardableResult
    mutating func add(_ identity: Identity, size: Int, token: Int?) -> UInt64 {
        entries.append(Entry(identity: identity, size: size, token: token))
        inFlight += 1
        bytesInFlight += size
        return lowestTag + UInt64(entries.count - head) - 1
    }

    /// Notes that the broker returned a message; its confirm is still to come.
    ///
    /// Copies of one message may be in flight together: the oldest that has not come back is meant.
    mutating func markReturned(_ identity: Identity, code: Int, text: String) throws(AMQPError) {
        let open = entries[head...].firstIndex { !$0.isSettled && $0.returned == nil && $0.identity == identity }
        guard let open else { throw .protocolViolation(reason: "a message came back that was not in flight") }
        entries[open].returned = .returned(code: code, text: text)
    }

    /// Settles one tag, or all up to it.
    ///
    /// - Parameter tag: 0 with `isMultiple` means all that were published so far (AMQP 0-9-1, basic.ack).
    /// - Returns: what became of the current round's messages, in tag order.
    mutating func settle(tag: UInt64, isMultiple: Bool, isAccepted: Bool) throws(AMQPError) -> [Settlement] {
        let highestTag = lowestTag + UInt64(entries.count - head) - 1
        let last = isMultiple && tag == 0 ? highestTag : tag
        guard last <= highestTag, last > 0 || isMultiple else {
            throw .protocolViolation(reason: "a confirm came for a tag that was not published")
        }
        // Everything below the lowest tag is settled already; a confirm may repeat it in an "all up to".
        guard last >= lowestTag else { return [] }
        let end = head + Int(last - lowestTag)
        var settlements: [Settlement] = []
        for index in (isMultiple ? head : end)...end where !entries[index].isSettled {
            entries[index].isSettled = true
            inFlight -= 1
            bytesInFlight -= entries[index].size
            guard let token = entries[index].token else { continue }
            let verdict = isAccepted ? entries[index].returned ?? .confirmed : .rejected
            settlements.append(Settlement(token: token, verdict: verdict))
        }
        dropSettled()
        return settlements
    }

    /// Nobody waits any more for what is in flight.
    mutating func forgetTokens() {
        for index in entries.indices.dropFirst(head) { entries[index].token = nil }
    }

    private mutating func dropSettled() {
        while head < entries.count, entries[head].isSettled {
            head += 1
            lowestTag += 1
        }
        // Compact when at least half of the array is behind the head: constant cost per entry.
        if head > 64, head * 2 >= entries.count {
            entries.removeFirst(head)
            head = 0
        }
    }
}
