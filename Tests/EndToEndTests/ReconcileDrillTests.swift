import TestSupport
import Testing

/// A short run of `make reconcile-drill`, on a broker and a database of its own.
@Suite(.serialized, .timeLimit(.minutes(5))) struct ReconcileDrillTests {
    @Test func `every planted difference among 300 purchases is found, and nothing else (A-121 A-122 A-123)`()
        async throws
    {
        try await onThread {
            let state = try Places.makeFolder("reconcile")
            let outcome = try Command.capture(
                "/usr/bin/env",
                [
                    "PURSER_BUILT=yes", "PURSER_DEMO_STATE=" + state, try Places.root() + "/infra/scripts/demo",
                    "reconcile", "300", "3",
                ])
            // What a failed run left behind is kept to be looked at.
            try #require(outcome.status == 0, "\(outcome.output)")
            #expect(outcome.output.contains("promises hold."))
            #expect(outcome.output.contains("False findings: 0."))
            _ = try Command.capture("/bin/rm", ["-rf", state])
        }
    }
}
