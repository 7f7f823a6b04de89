import TestSupport
import Testing

/// A short run of `make chaos`, on a broker and a database of its own. The long one is a drill of its own:
/// docs/guides/chaos.md.
@Suite(.serialized, .timeLimit(.minutes(5))) struct ChaosTests {
    @Test func `twenty seconds of chaos break no promise (R01 R02 R03 R04 R05 R12 R13 R14 small)`() async throws {
        try await onThread {
            let state = try Places.makeFolder("chaos")
            let outcome = try Command.capture(
                "/usr/bin/env",
                [
                    "PURSER_BUILT=yes", "PURSER_DEMO_STATE=" + state, try Places.root() + "/infra/scripts/demo",
                    "chaos", "20", "3",
                ])
            // What a failed run left behind is kept to be looked at.
            try #require(outcome.status == 0, "\(outcome.output)")
            #expect(outcome.output.contains("promises hold."))
            _ = try Command.capture("/bin/rm", ["-rf", state])
        }
    }
}
