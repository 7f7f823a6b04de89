import Messages
import Testing

@testable import Control

@Suite struct RiskCommandTests {
    @Test func `an operator names user, actor and reason, each once, or is told how (A-134)`() {
        let words = ["clear", "--app", "a", "--user", "u", "--actor", "op", "--reason", "called, all is well"]
        let request = RiskClearRequested(
            app: AppID("a"), userID: UserID("u"), actor: "op", reason: "called, all is well")
        #expect(RiskCommand.request(words) == request)
        #expect(RiskCommand.request(["raise"] + words.dropFirst()) == nil)
        #expect(RiskCommand.request(words + ["--user", "v"]) == nil)
        for length in 0..<words.count { #expect(RiskCommand.request(Array(words.prefix(length))) == nil) }
    }
}
