import Runtime
import Synchronization

/// Runs `body` on `count` threads that start at the same moment, and waits for all of them. Blocks.
func together<R: Sendable>(_ count: Int, _ body: @escaping @Sendable (Int) throws -> R) throws -> [R] {
    let runs = (0..<count).map { number in Later { try body(number) } }
    for run in runs { run.start() }
    return try runs.map { try $0.value() }
}

/// A body that runs on a thread of its own once it is started.
final class Later<R: Sendable>: Sendable {
    private let body: @Sendable () throws -> R
    private let result = Mutex<Result<R, any Error>?>(nil)
    private let thread = Mutex<NamedThread?>(nil)

    init(_ body: @escaping @Sendable () throws -> R) { self.body = body }

    func start() {
        let new = NamedThread.start(name: "later") { [self] in
            let outcome = Result { try body() }
            result.withLock { $0 = outcome }
        }
        thread.withLock { $0 = new }
    }

    /// Waits for its end.
    func value() throws -> R {
        thread.withLock { $0 }?.join()
        guard let outcome = result.withLock({ $0 }) else { throw NotStarted() }
        return try outcome.get()
    }

    struct NotStarted: Error {}
}
