import Messages
import Testing

@testable import Control

/// What an operator may ask for about users and the sandbox.
@Suite struct UsersCommandTests {
    @Test func `an erasure is only shown until somebody says yes, who and why`() {
        let words = ["erase", "--app", "a", "--user", "u"]
        #expect(EraseOptions(words)?.decision == nil)
        #expect(EraseOptions(words)?.app == AppID("a") && EraseOptions(words)?.user == UserID("u"))
        #expect(EraseOptions(words + ["--dry-run"])?.decision == nil)
        #expect(EraseOptions(words + ["--yes"]) == nil)
        #expect(EraseOptions(words + ["--yes", "--actor", "op"]) == nil)
        let decided = EraseOptions(words + ["--yes", "--actor", "op", "--reason", "asked by letter"])
        #expect(decided?.decision == EraseOptions.Decision(actor: "op", reason: "asked by letter"))
        #expect(EraseOptions(words + ["--yes", "--dry-run", "--actor", "op", "--reason", "r"]) == nil)
        #expect(EraseOptions(words + ["--user", "v"]) == nil && EraseOptions(words + ["--force"]) == nil)
        for length in 0..<words.count { #expect(EraseOptions(Array(words.prefix(length))) == nil) }
    }

    @Test func `a transfer names two users, actor and reason, and may name its number`() throws {
        let words = [
            "transfer", "--app", "a", "--from", "guest", "--to", "u", "--actor", "op", "--reason", "registered",
        ]
        let request = try #require(TransferCommand.request(words))
        #expect(request.fromUserID == UserID("guest") && request.toUserID == UserID("u"))
        #expect(request.actor == "op" && request.reason == "registered")
        #expect(TransferCommand.request(words)?.requestID != request.requestID)
        let number = "7B1F4A52-0000-4000-8000-0000000000AA"
        #expect(TransferCommand.request(words + ["--request-id", number])?.requestID == number.lowercased())
        #expect(TransferCommand.request(words + ["--request-id", "7"]) == nil)
        #expect(TransferCommand.request(words.map { $0 == "u" ? "guest" : $0 }) == nil)
        for length in 0..<words.count { #expect(TransferCommand.request(Array(words.prefix(length))) == nil) }
        #expect(Set(TransferOutcome.allCases.map(TransferCommand.sentence)).count == TransferOutcome.allCases.count)
    }

    @Test func `a sweep names the app and who, and may leave out what is younger`() throws {
        let words = ["sweep", "--app", "a", "--actor", "op"]
        let request = try #require(SandboxCommand.request(words, now: 1_000_000_000))
        #expect(request.before == 1_000_000_000 && !request.isDryRun && request.after == nil)
        let older = SandboxCommand.request(words + ["--older-than", "2", "--dry-run"], now: 1_000_000_000)
        #expect(older?.before == 1_000_000_000 - 2 * 86_400_000 && older?.isDryRun == true)
        for wrong in [["--older-than", "-1"], ["--older-than", "9999999"], ["--older-than", "x"], ["--all"]] {
            #expect(SandboxCommand.request(words + wrong, now: 0) == nil)
        }
        for length in 0..<words.count { #expect(SandboxCommand.request(Array(words.prefix(length)), now: 0) == nil) }
    }
}
