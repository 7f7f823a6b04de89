import AMQP
import Observability

/// What one look at the stream brought.
struct JournalBatch {
    /// Facts to keep.
    private(set) var entries: [JournalEntry] = []
    /// Messages that are none.
    private(set) var unreadable = 0
    /// What is wrong with the stream.
    var findings: [NewFinding] = []
    /// The place of the first message.
    private(set) var firstOffset: Int64?
    /// The place of the last one.
    private(set) var lastOffset: Int64?

    /// Where the broker writes a message's place.
    private static let offsetHeader = "x-stream-offset"

    init(_ deliveries: [Delivery]) {
        for delivery in deliveries {
            guard let offset = delivery.properties.headers[Self.offsetHeader]?.int64Value, offset >= 0 else { continue }
            firstOffset = firstOffset ?? offset
            lastOffset = offset
            switch JournalEntry.read(delivery, offset: offset) {
            case .success(let entry): entries.append(entry)
            case .failure(let problem):
                unreadable += 1
                findings.append(.factUnreadable(at: offset, reason: problem.reason))
            }
        }
    }

    /// Places between where reading ended and where the stream begins now; nil if it goes on.
    static func gap(from next: Int64, to first: Int64) -> Gap? {
        first > next + JournalReader.tolerance ? Gap(next: next, first: first) : nil
    }

    /// Messages that nobody can read any more.
    struct Gap: Equatable {
        let next: Int64
        let first: Int64

        var finding: NewFinding { .journalGap(from: next, to: first) }
        var fields: [String: LogValue] { ["from": .int(Int(next)), "to": .int(Int(first))] }
    }
}
