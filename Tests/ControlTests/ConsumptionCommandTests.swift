import TestSupport
import Testing

@testable import Control

/// `purser consumption list`.
@Suite(.timeLimit(.minutes(2))) struct ConsumptionCommandTests {
    @Test func `words that are no usage are refused`() {
        for words in [
            "", "show", "list --state open", "list --limit 0", "list --limit x", "list --app", "list --yes 1",
            "list --limit 10001",
        ] {
            #expect(ConsumptionCommand.Options(words.split(separator: " ").map(String.init)) == nil, "\(words)")
        }
        let options = ConsumptionCommand.Options(
            ["list", "--state", "pending", "--app", "cloudpc", "--transaction", "1", "--limit", "7"])
        #expect(options?.state == "pending" && options?.app == "cloudpc" && options?.transaction == "1")
        #expect(options?.limit == 7 && ConsumptionCommand.Options(["list"])?.limit == 50)
    }

    @Test func `questions of Apple are listed with their state, newest first, by the reader's role`() async throws {
        try await AuditHistory.copy { audited in
            func list(_ words: String...) -> (code: Int32, lines: [String]) {
                var lines: [String] = []
                let command = ConsumptionCommand(
                    output: { lines.append($0) },
                    environment: ["PURSER_CONTROL_DATABASE": audited.database.conninfo(role: "purser_auditor")])
                return (command.run(arguments: ["list"] + words), lines)
            }
            let all = list()
            #expect(all.code == 0 && all.lines.last == "2 listed", "\(all.lines)")
            let sent = list("--state", "sent")
            #expect(sent.lines.count == 2 && sent.lines[0].contains("sent  accepted  cloudpc  Production  1  "))
            #expect(sent.lines[0].contains("1 attempt(s), last v2 accepted"))
            #expect(list("--state", "pending", "--transaction", "1").lines[0].contains("pending  new  cloudpc"))
            #expect(list("--app", "other").lines == ["0 listed"])
            #expect(!all.lines.joined().contains("canary"))
        }
    }

    @Test func `without a database it says what is missing`() {
        var lines: [String] = []
        let command = ConsumptionCommand(output: { lines.append($0) }, environment: [:])
        #expect(command.run(arguments: ["list"]) == 2 && lines.joined().contains("DATABASE"))
        let away = ConsumptionCommand(
            output: { lines.append($0) }, environment: ["PURSER_CONTROL_DATABASE": "host=127.0.0.1 port=1"])
        #expect(away.run(arguments: ["list"]) == 1)
    }
}
