import Glibc
import Synchronization

/// Turns SIGTERM and SIGINT into a `StopSignal`: the first asks the process to finish, the second ends it at once.
public enum TerminationSignals {
    /// Installs the handlers, once a process, early in `main`, and ignores SIGPIPE: a peer that went away is an error
    /// of the write, not a reason to die.
    ///
    /// - Returns: the signal raised by SIGTERM or SIGINT; the same one at every call.
    public static func install() -> StopSignal {
        let alreadyInstalled = installed.exchange(true, ordering: .acquiringAndReleasing)
        guard !alreadyInstalled else { return stopSignal }
        ignoreBrokenPipes()
        unblock([SIGTERM, SIGINT])
        let reading = signalPipe.reading
        NamedThread.start(name: "signals") {
            var sequence = Sequence(stop: stopSignal, exitNow: { _exit($0) })
            while let number = readSignal(from: reading) { sequence.receive(number) }
        }
        for number in [SIGTERM, SIGINT] {
            var action = sigaction()
            action.__sigaction_handler.sa_handler = writeSignal
            // Restart what the signal interrupts: no library has to cope with EINTR.
            action.sa_flags = SA_RESTART
            sigaction(number, &action, nil)
        }
        return stopSignal
    }

    /// Ignores SIGPIPE only; for tools that do not install the rest.
    public static func ignoreBrokenPipes() { signal(SIGPIPE, SIG_IGN) }

    /// A supervisor may have started us with signals blocked, and a blocked SIGTERM would never be heard.
    private static func unblock(_ signals: [Int32]) {
        var set = sigset_t()
        sigemptyset(&set)
        for number in signals { sigaddset(&set, number) }
        pthread_sigmask(SIG_UNBLOCK, &set, nil)
    }

    /// The rule of the first and second signal, apart from the system so that it can be tested.
    struct Sequence {
        let stop: StopSignal
        let exitNow: (Int32) -> Void

        mutating func receive(_ number: Int32) {
            // Shells report a process that died of signal n as 128 + n.
            if stop.isStopped { exitNow(128 + number) } else { stop.stop() }
        }
    }

    private static let installed = Atomic<Bool>(false)
    private static let stopSignal = StopSignal()
}

/// A handler may only do what is async-signal-safe, so it writes one byte to this pipe and a thread reads it.
private struct SignalPipe: Sendable {
    let reading: Int32
    let writing: Int32

    init() {
        var ends: [Int32] = [-1, -1]
        pipe(&ends)
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        reading = ends[0]
        writing = ends[1]
    }
}

private let signalPipe = SignalPipe()

private func writeSignal(_ number: Int32) {
    let saved = errno
    var byte = UInt8(truncatingIfNeeded: number)
    _ = write(signalPipe.writing, &byte, 1)
    errno = saved
}

/// Blocks until a signal arrives; nil when the pipe is broken.
private func readSignal(from file: Int32) -> Int32? {
    var byte: UInt8 = 0
    while true {
        let count = read(file, &byte, 1)
        if count == 1 { return Int32(byte) }
        if count == 0 || errno != EINTR { return nil }
    }
}
