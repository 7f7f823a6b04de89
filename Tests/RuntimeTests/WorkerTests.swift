import Runtime
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(5))) struct WorkerTests {
    private struct Broken: Error, Equatable {}

    /// What the worker's thread did, seen from the test.
    private final class Log: Sendable {
        let rounds = Mutex<[[Int]]>([])
        let opens = Counter()
        let roundsBegun = Counter()
        let ticks = Counter()
        let isBroken = Atomic<Bool>(false)
        let gate = StopSignal()
    }

    private func makeWorker(_ log: Log, mailboxLimit: Int = 100, roundLimit: Int = 50, isGated: Bool = false)
        -> Worker<Int, Int>
    {
        Worker<Int, Int>.start(
            .init(
                name: "test-worker", mailboxLimit: mailboxLimit, roundLimit: roundLimit,
                tickInterval: .milliseconds(1), backoff: Backoff(base: .milliseconds(1), limit: .milliseconds(2))),
            open: { () throws -> Int in
                log.opens.increase()
                if log.isBroken.load(ordering: .acquiring) { throw Broken() }
                return 1_000
            },
            process: { (offset: inout Int, requests: [Int]) throws -> [Result<Int, any Error>] in
                log.roundsBegun.increase()
                if isGated { log.gate.wait() }
                log.rounds.withLock { $0.append(requests) }
                if requests.contains(-1) { throw Broken() }
                return requests.map { $0 == 13 ? .failure(Broken()) : .success($0 + offset) }
            },
            tick: { (_: inout Int) in log.ticks.increase() })
    }

    @Test func `every request gets its own answer`() async throws {
        let worker = makeWorker(Log())
        defer { worker.stop() }
        let answers = try await withThrowingTaskGroup(of: (Int, Int).self) { group in
            for number in 100..<150 { group.addTask { (number, try await worker.submit(number)) } }
            return try await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
        }
        #expect(answers.count == 50)
        #expect(answers.allSatisfy { $0.value == $0.key + 1_000 })
    }

    @Test func `one failing request does not harm its round`() async throws {
        let worker = makeWorker(Log())
        defer { worker.stop() }
        await #expect(throws: Broken.self) { try await worker.submit(13) }
        #expect(try await worker.submit(1) == 1_001)
    }

    @Test func `requests that arrive during a round are served together in the next`() async throws {
        let log = Log()
        let worker = makeWorker(log, isGated: true)
        defer { worker.stop() }
        try await withThrowingTaskGroup(of: Int.self) { group in
            group.addTask { try await worker.submit(100) }
            while log.roundsBegun.value < 1 { await Task.yield() }
            for number in 1..<20 { group.addTask { try await worker.submit(number + 100) } }
            while worker.backlog < 19 { await Task.yield() }
            log.gate.stop()
            for try await answer in group { #expect(answer > 1_000) }
        }
        #expect(log.rounds.withLock { $0 }.map(\.count) == [1, 19])
    }

    @Test func `beyond the limit of the mailbox a request is refused at once`() async throws {
        let log = Log()
        let worker = makeWorker(log, mailboxLimit: 2, roundLimit: 1, isGated: true)
        defer { worker.stop() }
        try await withThrowingTaskGroup(of: Bool.self) { group in
            group.addTask { try await worker.submit(100) == 1_100 }
            while log.roundsBegun.value < 1 { await Task.yield() }
            for number in 1..<10 {
                group.addTask {
                    do {
                        _ = try await worker.submit(number + 100)
                        return true
                    } catch WorkerError.overloaded {
                        return false
                    }
                }
            }
            // Seven refusals come without any round having ended: one is being served, two wait.
            var refused = 0
            while refused < 7, let served = try await group.next() { if !served { refused += 1 } }
            #expect(refused == 7)
            log.gate.stop()
            for try await served in group { #expect(served) }
        }
    }

    @Test func `a round that throws fails its requests and the resource is opened anew`() async throws {
        let log = Log()
        let worker = makeWorker(log)
        defer { worker.stop() }
        await #expect(throws: Broken.self) { try await worker.submit(-1) }
        #expect(try await worker.submit(1) == 1_001)
        #expect(log.opens.value == 2)
    }

    @Test func `while the resource cannot be opened requests are refused, later served again`() async throws {
        let log = Log()
        log.isBroken.store(true, ordering: .releasing)
        let worker = makeWorker(log)
        defer { worker.stop() }
        while log.opens.value < 3 { await Task.yield() }
        await #expect(throws: WorkerError.self) { try await worker.submit(1) }
        #expect(!worker.isOpen)
        log.isBroken.store(false, ordering: .releasing)
        while !worker.isOpen { await Task.yield() }
        #expect(try await worker.submit(1) == 1_001)
    }

    @Test func `ticks come while nothing is asked`() async throws {
        let log = Log()
        let worker = makeWorker(log)
        while log.ticks.value < 3 { await Task.yield() }
        worker.stop()
        #expect(log.rounds.withLock { $0.isEmpty })
    }

    @Test func `after stop nothing is served`() async throws {
        let worker = makeWorker(Log())
        worker.stop()
        #expect(worker.join(for: .seconds(60)))
        await #expect(throws: WorkerError.stopped) { try await worker.submit(1) }
    }
}
