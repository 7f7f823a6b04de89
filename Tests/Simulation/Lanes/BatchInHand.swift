import Messages

@testable import Pipeline

/// A batch between being taken and being acknowledged, as far as it has come. A lane has two at most: one whose
/// consequences await their confirms, and one in the database.
final class BatchInHand {
    let taken: [Copy]
    /// As its handler sees it.
    var incoming: [Incoming]
    var attempt: Attempt?
    var committed: LaneBatch?
    var publishing: Publishing?
    /// Steps done of: send, confirm, forward, note, acknowledge.
    var stage = 0

    init(_ taken: [Copy]) {
        self.taken = taken
        incoming = taken.map { Incoming(header: $0.letter.header, body: [], isRedelivered: $0.isRedelivered) }
    }
}
