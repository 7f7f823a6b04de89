public import Messages
public import Pipeline
import Runtime
import Synchronization

/// Everything that can happen to a lane between taking a message and acknowledging it.
public enum LaneFault: String, Sendable, CaseIterable {
    /// The process dies with state written and the transaction open.
    case diesBeforeCommit
    /// The process dies with the transaction committed and nothing published.
    case diesAfterCommit
    /// The process dies with everything confirmed and nothing acknowledged.
    case diesAfterPublish
    /// The process dies when the acknowledgement is next.
    case diesBeforeAck
    /// PostgreSQL has committed, the answer never arrives.
    case losesCommitAnswer
    /// The broker has stored a fact, the confirm never arrives.
    case losesConfirm
    /// Two lanes at once, every message three times: in both, and more than once in a batch.
    case runsTwice

    /// Where the process dies, if it does.
    public var crashPoint: CrashPoint? {
        switch self {
        case .diesBeforeCommit: .beforeCommit
        case .diesAfterCommit: .afterCommit
        case .diesAfterPublish: .afterPublish
        case .diesBeforeAck: .beforeAck
        case .losesCommitAnswer, .losesConfirm, .runsTwice: nil
        }
    }

    /// Whether something is delivered again that was answered before.
    public var answersAgain: Bool {
        switch self {
        case .diesAfterPublish, .diesBeforeAck, .losesConfirm, .runsTwice: true
        case .diesBeforeCommit, .diesAfterCommit, .losesCommitAnswer: false
        }
    }

    /// How often each message is published under its id.
    public var copies: Int { self == .runsTwice ? 3 : 1 }
}

/// Crashes the lane the first time it reaches a point with a batch of a certain size.
public final class CrashOnce: LaneProbe {
    private let point: CrashPoint
    private let size: Int
    private let hasCrashed = Mutex(false)

    /// - Parameter size: messages in the batch at least. The first batch of a lane has one: it starts slowly.
    public init(at point: CrashPoint, batchOf size: Int = 1) {
        self.point = point
        self.size = size
    }

    /// Whether it has crashed.
    public var isDone: Bool { hasCrashed.withLock { $0 } }

    /// Throws once.
    public func reached(_ point: CrashPoint, batch: [MessageID]) throws {
        guard point == self.point, batch.count >= size else { return }
        let isFirst = hasCrashed.withLock { hasCrashed in
            defer { hasCrashed = true }
            return !hasCrashed
        }
        if isFirst { throw SimulatedCrash(at: point) }
    }
}

/// Remembers what a lane worked on.
public final class BatchRecorder: LaneProbe {
    private let committed = Mutex<[[MessageID]]>([])

    /// One that has seen nothing.
    public init() {}

    /// The batches that were committed, in order.
    public var batches: [[MessageID]] { committed.withLock { $0 } }

    /// Notes the batch.
    public func reached(_ point: CrashPoint, batch: [MessageID]) {
        if point == .afterCommit { committed.withLock { $0.append(batch) } }
    }
}

/// Remembers what a lane worked on, and holds it once, with everything published and nothing acknowledged, until it is
/// released: meanwhile the broker fills its window.
public final class HoldOnce: LaneProbe {
    private let number: Int
    private let recorder = BatchRecorder()
    private let holding = StopSignal()
    private let released = StopSignal()

    /// - Parameter number: of the batch it holds, from 1.
    public init(batch number: Int) { self.number = number }

    /// Whether the lane is held or has been.
    public var isHolding: Bool { holding.isStopped }

    /// The batches that were committed, in order.
    public var batches: [[MessageID]] { recorder.batches }

    /// Lets the lane go on.
    public func release() { released.stop() }

    /// Waits at the batch; never longer than a test may take.
    public func reached(_ point: CrashPoint, batch: [MessageID]) {
        recorder.reached(point, batch: batch)
        guard point == .beforeAck, batches.count == number, !holding.isStopped else { return }
        holding.stop()
        _ = released.wait(for: .seconds(60))
    }
}
