import Glibc
import Testing

@testable import Runtime

@Suite(.serialized) struct TerminationSignalsTests {
    @Test func `the first signal stops, the second exits with 128 plus its number`() {
        let stop = StopSignal()
        var exits: [Int32] = []
        var sequence = TerminationSignals.Sequence(stop: stop) { exits.append($0) }
        sequence.receive(SIGTERM)
        #expect(stop.isStopped)
        #expect(exits.isEmpty)
        sequence.receive(SIGINT)
        #expect(exits == [130])
    }

    @Test func `SIGTERM raises the installed signal and the process lives`() {
        let stop = TerminationSignals.install()
        #expect(TerminationSignals.install() === stop)
        kill(getpid(), SIGTERM)
        #expect(stop.wait(for: .seconds(60)))
    }

    @Test func `writing to a closed pipe is an error, not the end`() {
        _ = TerminationSignals.install()
        var ends: [Int32] = [-1, -1]
        pipe(&ends)
        close(ends[0])
        var byte: UInt8 = 1
        #expect(write(ends[1], &byte, 1) == -1)
        #expect(errno == EPIPE)
        close(ends[1])
    }
}
