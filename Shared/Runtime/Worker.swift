import Dispatch
import Synchronization

/// One named thread that owns a resource (a connection, say) and serves all waiting callers in rounds.
///
/// Callers `await`; the thread takes everything that has arrived and hands it to `process` at once, so many callers
/// share one round trip (group commit). The mailbox is bounded: beyond its limit a request is refused at once.
/// A resource that fails (a throwing `process` or `tick`) is dropped and opened anew with backoff; requests that
/// arrive while it cannot be opened are refused with `WorkerError.unavailable` instead of waiting for it.
public final class Worker<Request: Sendable, Response: Sendable>: Sendable {
    /// How a worker is bounded and timed.
    public struct Configuration: Sendable {
        /// Name of the thread, ≤ 15 bytes.
        public var name: String
        /// Requests that may wait; more are refused with `WorkerError.overloaded`.
        public var mailboxLimit: Int
        /// Requests handed to `process` at most at once.
        public var roundLimit: Int
        /// `tick` runs at least this often, whether there is work or not.
        public var tickInterval: Duration
        /// Waits between attempts to open the resource.
        public var backoff: Backoff

        /// The defaults suit a publisher: 1,024 waiting requests are 1 s of work at the target rate, rounds are a
        /// confirm window, and a tick every second keeps a 10 s heartbeat.
        public init(
            name: String, mailboxLimit: Int = 1_024, roundLimit: Int = 128, tickInterval: Duration = .seconds(1),
            backoff: Backoff = Backoff()
        ) {
            self.name = name
            self.mailboxLimit = mailboxLimit
            self.roundLimit = roundLimit
            self.tickInterval = tickInterval
            self.backoff = backoff
        }
    }

    private struct Waiting: Sendable {
        let request: Request
        let answer: UnsafeContinuation<Response, any Error>
    }

    private struct Mailbox {
        var waiting: [Waiting] = []
        /// Set while the resource cannot be opened.
        var unavailable: String?
        var isStopped = false
    }

    private let configuration: Configuration
    private let mailbox = Mutex(Mailbox())
    private let arrival = DispatchSemaphore(value: 0)
    private let stopping = StopSignal()
    private let opened = Atomic<Bool>(false)
    private let finished = StopSignal()

    private init(_ configuration: Configuration) { self.configuration = configuration }

    /// Starts the thread.
    ///
    /// - Parameters:
    ///   - open: makes the resource, on the worker's thread; called again after every failure.
    ///   - process: serves one round, answering one result for each request in the same order; if it throws, every
    ///     request of the round fails with that error (outcome unknown) and the resource is opened anew.
    ///   - tick: keeps the resource alive (heartbeats); if it throws, the resource is opened anew.
    public static func start<Resource: ~Copyable>(
        _ configuration: Configuration,
        open: @escaping @Sendable () throws -> Resource,
        process: @escaping @Sendable (inout Resource, [Request]) throws -> [Result<Response, any Error>],
        tick: @escaping @Sendable (inout Resource) throws -> Void = { (_: inout Resource) in }
    ) -> Worker {
        let worker = Worker(configuration)
        NamedThread.start(name: configuration.name) {
            worker.run(open: open, process: process, tick: tick)
            worker.finished.stop()
        }
        return worker
    }

    /// Whether the resource is open at present (readiness).
    public var isOpen: Bool { opened.load(ordering: .acquiring) }

    /// How many requests wait for their round at present.
    public var backlog: Int { mailbox.withLock { $0.waiting.count } }

    /// Hands a request to the thread and waits for its answer.
    ///
    /// Cancelling the calling task does not take the request back: it may have been served already.
    ///
    /// - Throws: `WorkerError`, or what `process` gave or threw.
    public func submit(_ request: Request) async throws -> Response {
        try await withUnsafeThrowingContinuation { continuation in
            let refusal: WorkerError? = mailbox.withLock { mailbox in
                if mailbox.isStopped { return .stopped }
                if let reason = mailbox.unavailable { return .unavailable(reason: reason) }
                if mailbox.waiting.count >= configuration.mailboxLimit { return .overloaded }
                mailbox.waiting.append(Waiting(request: request, answer: continuation))
                return nil
            }
            if let refusal { continuation.resume(throwing: refusal) } else { arrival.signal() }
        }
    }

    /// Ends the thread after the round it is in; waiting requests fail with `WorkerError.stopped`. Does not block.
    public func stop() {
        stopping.stop()
        arrival.signal()
    }

    /// Blocks until the thread has ended (after `stop`), at most for `duration`. Own threads only.
    public func join(for duration: Duration) -> Bool { finished.wait(for: duration) }
}

// MARK: - On the worker's thread

extension Worker {
    private func run<Resource: ~Copyable>(
        open: () throws -> Resource,
        process: (inout Resource, [Request]) throws -> [Result<Response, any Error>],
        tick: (inout Resource) throws -> Void
    ) {
        var backoff = configuration.backoff
        while !stopping.isStopped {
            do {
                var resource = try open()
                backoff.reset()
                becomeAvailable()
                defer { opened.store(false, ordering: .releasing) }
                try serve(&resource, process: process, tick: tick)
            } catch {
                // The loop opens anew; requests that wait now learn it, or wait if opening succeeds at once.
                if stopping.isStopped { break }
                if backoff.attempts > 0 { becomeUnavailable(reason: "\(error)") }
                // The first retry is immediate: a dropped connection is usually replaced within milliseconds.
                let wait = backoff.next()
                if backoff.attempts > 1 { _ = stopping.wait(for: wait) }
            }
        }
        refuseAll(with: .stopped) { $0.isStopped = true }
    }

    private func serve<Resource: ~Copyable>(
        _ resource: inout Resource,
        process: (inout Resource, [Request]) throws -> [Result<Response, any Error>],
        tick: (inout Resource) throws -> Void
    ) throws {
        var nextTick = ContinuousClock.now
        while !stopping.isStopped {
            if ContinuousClock.now >= nextTick {
                try tick(&resource)
                nextTick = ContinuousClock.now.advanced(by: configuration.tickInterval)
            }
            let round = takeRound()
            if round.isEmpty {
                let idle = ContinuousClock.now.duration(to: nextTick)
                if idle > .zero { _ = arrival.wait(timeout: .now() + idle) }
            } else {
                try serve(round, on: &resource, process: process)
            }
        }
    }

    private func serve<Resource: ~Copyable>(
        _ round: [Waiting], on resource: inout Resource,
        process: (inout Resource, [Request]) throws -> [Result<Response, any Error>]
    ) throws {
        do {
            let results = try process(&resource, round.map(\.request))
            guard results.count == round.count else { throw WorkerError.wrongNumberOfResults }
            for (waiting, result) in zip(round, results) { waiting.answer.resume(with: result) }
        } catch {
            for waiting in round { waiting.answer.resume(throwing: error) }
            throw error
        }
    }

    private func takeRound() -> [Waiting] {
        mailbox.withLock { mailbox in
            let count = min(mailbox.waiting.count, configuration.roundLimit)
            let round = Array(mailbox.waiting.prefix(count))
            mailbox.waiting.removeFirst(count)
            return round
        }
    }

    private func becomeAvailable() {
        mailbox.withLock { $0.unavailable = nil }
        opened.store(true, ordering: .releasing)
    }

    private func becomeUnavailable(reason: String) {
        refuseAll(with: .unavailable(reason: reason)) { $0.unavailable = reason }
    }

    private func refuseAll(with error: WorkerError, after change: (inout Mailbox) -> Void) {
        let refused = mailbox.withLock { mailbox in
            change(&mailbox)
            let waiting = mailbox.waiting
            mailbox.waiting.removeAll()
            return waiting
        }
        for waiting in refused { waiting.answer.resume(throwing: error) }
    }
}
