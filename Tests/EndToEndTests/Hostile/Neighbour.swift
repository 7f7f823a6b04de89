import Runtime
import Synchronization
import Testing

/// Somebody else's requests, one after the other while something hostile goes on; all of them have to succeed.
final class Neighbour: Sendable {
    private struct State {
        var asked = 0
        var failed: [String] = []
    }

    private let deployment: Deployment
    private let stop = StopSignal()
    private let state = Mutex(State())
    private let thread = Mutex<NamedThread?>(nil)

    /// Starts to ask.
    init(_ deployment: Deployment) {
        self.deployment = deployment
        let thread = NamedThread.start(name: "neighbour") { self.ask() }
        self.thread.withLock { $0 = thread }
    }

    private func ask() {
        while !stop.wait(for: .milliseconds(5)) {
            let result = Result { try deployment.status(of: "/api/wallet/balance", user: "neighbour") }
            state.withLock {
                $0.asked += 1
                if (try? result.get()) != 200 { $0.failed.append("\(result)") }
            }
        }
    }

    /// Stops asking and looks at what was answered.
    func expectUnharmed(sourceLocation: SourceLocation = #_sourceLocation) {
        stop.stop()
        thread.withLock { $0 }?.join()
        state.withLock {
            #expect($0.asked > 0, sourceLocation: sourceLocation)
            #expect($0.failed == [], "of \($0.asked) requests", sourceLocation: sourceLocation)
        }
    }
}
