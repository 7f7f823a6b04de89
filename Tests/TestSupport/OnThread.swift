import Runtime

/// Runs a blocking body on a thread of its own and waits for it without holding a thread of the cooperative pool,
/// which is two wide on a small machine.
///
/// The body stays part of the test's task, so an expectation that fails in it is a failure of that test. On any other
/// thread (a lane's, a `NamedThread` the body starts) Swift Testing cannot tell to which test an expectation belongs: the
/// run fails, but no test does. Hand such results to the body and expect there.
public func onThread<R: Sendable>(_ body: @escaping @Sendable () throws -> R) async throws -> R {
    try await withTaskExecutorPreference(OwnThread()) { try body() }
}

/// Runs each part of a task on a new thread.
private final class OwnThread: TaskExecutor {
    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        NamedThread.start(name: "test") { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
