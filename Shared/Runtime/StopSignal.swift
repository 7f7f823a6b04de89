import Dispatch
import Synchronization

/// A flag that is raised once and that threads can wait on.
///
/// `wait` blocks its thread: it is for own threads (`NamedThread`), never for the cooperative pool.
public final class StopSignal: Sendable {
    private let raised = Atomic<Bool>(false)
    /// Holds one permit after `stop()`; every woken waiter passes it on, so all of them wake.
    private let baton = DispatchSemaphore(value: 0)
    private let observers = Mutex<[@Sendable () -> Void]>([])

    /// A signal that is not raised yet.
    public init() {}

    /// Whether `stop()` was called. Cheap: one atomic load.
    public var isStopped: Bool { raised.load(ordering: .acquiring) }

    /// Raises the signal and wakes every waiter. Calling it again does nothing. Any thread.
    public func stop() {
        guard raised.exchange(true, ordering: .acquiringAndReleasing) == false else { return }
        baton.signal()
        let actions = observers.withLock { list in
            let taken = list
            list.removeAll()
            return taken
        }
        for action in actions { action() }
    }

    /// Runs `action` when the signal is raised, on the thread that raises it; at once if it is raised already.
    public func onStop(_ action: @escaping @Sendable () -> Void) {
        let runNow = observers.withLock { list in
            if isStopped { return true }
            list.append(action)
            return false
        }
        if runNow { action() }
    }

    /// Blocks until the signal is raised or `duration` has passed.
    ///
    /// - Returns: `true` if the signal is raised.
    public func wait(for duration: Duration) -> Bool {
        if isStopped { return true }
        guard baton.wait(timeout: .now() + duration) == .success else { return isStopped }
        baton.signal()
        return true
    }

    /// Blocks until the signal is raised.
    public func wait() {
        if isStopped { return }
        baton.wait()
        baton.signal()
    }
}
