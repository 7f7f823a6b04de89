import Messages
import Testing

@testable import Control

/// What an operator may write behind `purser notifications redrive`.
@Suite struct RedriveCommandTests {
    private static let uuid = "002E14D5-51F5-4503-B5A8-C3A1AF68EB20"

    @Test func `what is meant becomes a request`() throws {
        let options = try #require(
            RedriveCommand.Options([
                "redrive", "--type", "refund", "--type", "REVOKE", "--environment", "Sandbox", "--dry-run", "--actor",
                "op",
            ]))
        #expect(
            RedriveCommand.requests(options) == [
                NotificationRedriveRequested(
                    notificationUUIDs: [], environment: .sandbox, notificationTypes: ["REFUND", "REVOKE"], actor: "op",
                    isDryRun: true)
            ])
        let one = try #require(RedriveCommand.Options(["redrive", "--uuid", Self.uuid, "--actor", "op"]))
        #expect(RedriveCommand.requests(one).map(\.notificationUUIDs) == [[Self.uuid.lowercased()]])
        let unrecognised = try #require(RedriveCommand.Options(["redrive", "--unrecognised", "--actor", "op"]))
        #expect(RedriveCommand.requests(unrecognised).map(\.notificationTypes) == [[]])
    }

    @Test func `many are asked for in parts that are taken`() throws {
        let words = (1...1_001).flatMap { _ in ["--uuid", Self.uuid] }
        let options = try #require(RedriveCommand.Options(["redrive", "--actor", "op"] + words))
        #expect(RedriveCommand.requests(options).map(\.notificationUUIDs.count) == [500, 500, 1])
    }

    private static let wrong: [[String]] = [
        [], ["list"], ["redrive"], ["redrive", "--actor", "op"], ["redrive", "--unrecognised"],
        ["redrive", "--unrecognised", "--actor"], ["redrive", "--unrecognised", "--actor", "--dry-run"],
        ["redrive", "--uuid", "nonsense", "--actor", "op"],
        ["redrive", "--unrecognised", "--type", "REFUND", "--actor", "op"],
        ["redrive", "--unrecognised", "--environment", "Xcode", "--actor", "op"],
        ["redrive", "--unrecognised", "--everything", "--actor", "op"],
    ]

    @Test(arguments: wrong)
    func `what could be meant in two ways, or lacks who asks, sends nothing and ends with 2`(words: [String]) async {
        var lines: [String] = []
        let code = await RedriveCommand(output: { lines.append($0) }, environment: [:]).run(arguments: words)
        #expect(code == 2 && lines == [RedriveCommand.usage])
    }
}
