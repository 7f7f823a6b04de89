import Runtime
import Synchronization
import Testing

@Suite struct StopSignalTests {
    @Test func `a fresh signal is not raised and waiting for it ends with the time`() {
        let signal = StopSignal()
        #expect(!signal.isStopped)
        #expect(!signal.wait(for: .milliseconds(1)))
    }

    @Test func `raising wakes every waiting thread`() {
        let signal = StopSignal()
        let counter = Counter()
        let threads = (0..<8).map { number in
            NamedThread.start(name: "waiter-\(number)") {
                if signal.wait(for: .seconds(30)) { counter.increase() }
            }
        }
        signal.stop()
        for thread in threads { #expect(thread.join(for: .seconds(60))) }
        #expect(counter.value == 8)
    }

    @Test func `actions run once, also when they are added after the signal`() {
        let signal = StopSignal()
        let counter = Counter()
        signal.onStop { counter.increase() }
        signal.stop()
        signal.stop()
        signal.onStop { counter.increase() }
        #expect(counter.value == 2)
    }

    @Test func `an endless wait is possible`() {
        let signal = StopSignal()
        signal.stop()
        #expect(signal.wait(for: .seconds(Int64.max)))
    }
}

/// Counts from any thread.
final class Counter: Sendable {
    private let count = Atomic<Int>(0)
    var value: Int { count.load(ordering: .acquiring) }
    func increase() { count.add(1, ordering: .acquiringAndReleasing) }
}
