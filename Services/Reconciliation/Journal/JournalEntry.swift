import AMQP
import JSON
import Messages
import Pipeline

/// A fact as it came out of the stream.
struct JournalEntry: Sendable {
    /// What travels with it.
    let header: MessageHeader
    /// The JSON as it was said.
    let body: [UInt8]
    /// Its place in the stream.
    let offset: Int64
    /// The purchase it speaks of, if any.
    let transactionID: String?
    /// The order it speaks of, if any.
    let orderNumber: String?
    /// The customer it speaks of, if any.
    let customer: String?

    /// From Apple's first purchase to further ahead than any clock of ours is wrong, as the database has it (ms).
    private static let plausibleTimes: Range<Int64> = 1_214_870_400_000..<7_258_118_400_000

    /// Reads a delivery of the stream; the stable reason if it is no fact that can be kept.
    static func read(_ delivery: Delivery, offset: Int64) -> Result<JournalEntry, Unreadable> {
        switch Envelope.read(delivery, from: Topology.facts) {
        case .failure(let malformed): return .failure(Unreadable(reason: malformed.rawValue))
        case .success(let incoming):
            guard plausibleTimes.contains(incoming.header.occurredAt) else {
                return .failure(Unreadable(reason: "message.time_implausible"))
            }
            // PostgreSQL keeps no text with a NUL.
            let texts = [incoming.header.correlationID, incoming.header.app?.rawValue ?? ""]
            guard let object = try? JSONReader.parseObject(incoming.body),
                texts.allSatisfy({ !$0.utf8.contains(0) })
            else {
                return .failure(Unreadable(reason: Incoming.unreadable))
            }
            return .success(
                JournalEntry(
                    header: incoming.header, body: incoming.body, offset: offset,
                    transactionID: object["transactionID"]?.stringValue,
                    orderNumber: object["orderNumber"]?.stringValue, customer: object["customer"]?.stringValue))
        }
    }

    /// Why a message of the stream is not kept.
    struct Unreadable: Error, Equatable {
        let reason: String
    }
}
