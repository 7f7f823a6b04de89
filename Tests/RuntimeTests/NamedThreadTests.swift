import Glibc
import Runtime
import Synchronization
import Testing

@Suite struct NamedThreadTests {
    @Test func `a thread bears its name, cut to fifteen bytes`() {
        let seen = StopSignal()
        let box = Box()
        NamedThread.start(name: "granting-lane-number-1") {
            box.value.withLock { $0 = currentThreadName() }
            seen.stop()
        }
        .join()
        #expect(seen.isStopped)
        #expect(box.value.withLock { $0 } == "granting-lane-n")
    }

    @Test func `a thread that steps back does so alone`() {
        let process = __priority_which_t(PRIO_PROCESS.rawValue)
        let before = getpriority(process, 0)
        let box = Box()
        NamedThread.start(name: "background", niceness: 3) {
            box.value.withLock { $0 = "\(getpriority(process, 0) - before)" }
        }
        .join()
        #expect(box.value.withLock { $0 } == "3")
        #expect(getpriority(process, 0) == before)
    }

    @Test func `join returns only after the body`() {
        let gate = StopSignal()
        let thread = NamedThread.start(name: "gated") { gate.wait() }
        #expect(!thread.join(for: .milliseconds(5)))
        gate.stop()
        #expect(thread.join(for: .seconds(60)))
    }
}

private final class Box: Sendable {
    let value = Mutex("")
}

private func currentThreadName() -> String {
    var bytes = [UInt8](repeating: 0, count: 64)
    let file = open("/proc/thread-self/comm", O_RDONLY)
    defer { close(file) }
    let count = read(file, &bytes, bytes.count)
    return String(decoding: bytes.prefix(max(0, count - 1)), as: UTF8.self)
}
