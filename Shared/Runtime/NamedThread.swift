import Glibc

/// A thread of the system with a name that `top -H` and debuggers show.
///
/// Everything that blocks (librabbitmq, libpq, waiting) runs on one of these, never on Swift's cooperative pool.
public final class NamedThread: Sendable {
    /// The name given at the start.
    public let name: String
    private let finished: StopSignal

    private init(name: String, finished: StopSignal) {
        self.name = name
        self.finished = finished
    }

    /// What the new thread needs, handed over through the C pointer.
    private final class Start: Sendable {
        let name: String
        let niceness: Int32
        let body: @Sendable () -> Void
        let finished: StopSignal

        init(name: String, niceness: Int32, body: @escaping @Sendable () -> Void, finished: StopSignal) {
            self.name = name
            self.niceness = niceness
            self.body = body
            self.finished = finished
        }
    }

    /// Starts a thread that runs `body` once and ends.
    ///
    /// The process ends with a message if the system refuses a thread: no service can work without its threads.
    ///
    /// - Parameters:
    ///   - name: shown by the system; Linux keeps 15 bytes of it.
    ///   - niceness: how far it steps back for other threads when processors are scarce, 0...19 more than its process
    ///     (setpriority(2): Linux gives every thread its own). A system that refuses it changes nothing but the order.
    @discardableResult
    public static func start(
        name: String, niceness: Int32 = 0, _ body: @escaping @Sendable () -> Void
    ) -> NamedThread {
        let finished = StopSignal()
        let start = Unmanaged.passRetained(
            Start(name: name, niceness: niceness, body: body, finished: finished))
        var thread = pthread_t()
        let status = pthread_create(
            &thread, nil,
            { pointer in
                guard let pointer else { return nil }
                let start = Unmanaged<Start>.fromOpaque(pointer).takeRetainedValue()
                nameCurrentThread(start.name)
                stepBack(by: start.niceness)
                start.body()
                start.finished.stop()
                return nil
            }, start.toOpaque())
        guard status == 0 else {
            start.release()
            preconditionFailure("the system refused to start a thread")
        }
        pthread_detach(thread)
        return NamedThread(name: name, finished: finished)
    }

    /// Blocks until the thread's body has returned. Never call it from the thread itself.
    public func join() { finished.wait() }

    /// Blocks until the thread's body has returned, at most for `duration`.
    ///
    /// - Returns: whether the body has returned.
    public func join(for duration: Duration) -> Bool { finished.wait(for: duration) }
}

/// Gives the calling thread its name through procfs (`pthread_setname_np` is not importable), cut to what Linux keeps.
private func nameCurrentThread(_ name: String) {
    // TASK_COMM_LEN is 16 with the closing NUL.
    let bytes = Array(name.utf8.prefix(15))
    let file = open("/proc/thread-self/comm", O_WRONLY | O_CLOEXEC)
    guard file >= 0 else { return }
    _ = write(file, bytes, bytes.count)
    close(file)
}

/// Adds to the niceness of the calling thread; 0 as `who` is the calling thread, not its process.
private func stepBack(by niceness: Int32) {
    guard niceness != 0 else { return }
    let thread = __priority_which_t(PRIO_PROCESS.rawValue)
    _ = setpriority(thread, 0, getpriority(thread, 0) + niceness)
}
