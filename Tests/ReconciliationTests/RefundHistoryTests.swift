import AppStoreServerAPI
import Messages
import Postgres
import Synchronization
import TestSupport
import Testing

@testable import Reconciliation

/// What Apple lists as refunded to recent buyers against what Granting knows, on a real database.
@Suite(.timeLimit(.minutes(3))) struct RefundHistoryTests {
    private static let minute: Int64 = 60_000
    private static let hour: Int64 = 3_600_000
    private static let day: Int64 = 86_400_000
    /// 2026-05-28, a full hour.
    private static let now: Int64 = 1_780_002_000_000 - 1_780_002_000_000 % 3_600_000

    /// Buyers are asked about once an hour; one call of each pass is for notifications, which there are none of.
    private static let settings = ApplePassSettings(firstDays: 1, calls: 500, accountPause: hour)

    private static func refunded(_ transaction: Int, _ age: Int64, share: Int64 = 100_000) -> ScriptedApple.Refunded {
        ScriptedApple.Refunded(transaction: transaction, at: now - age, share: share)
    }

    @Test func `a refund that nobody told is found and handed in until Granting knows it (A-122 B-131)`()
        async throws
    {
        try await AppleWorld.with("refunds", Self.settings) { world in
            for (place, account) in ["a", "a", "b", "c"].enumerated() {
                let age = Int64(4 - place) * Self.day
                try world.buy(1_001 + place, account: account, at: Self.now - age, takenIn: Self.now)
            }
            // All of one, half of another; that of 1004 is known, with an older signature than Apple's answer has.
            world.apple.refunded = [
                1_001: [Self.refunded(1_001, 3 * Self.hour), Self.refunded(1_002, 2 * Self.hour, share: 50_000)],
                1_004: [Self.refunded(1_004, Self.hour)],
            ]
            world.apple.signsAt = Self.now
            world.books.know(1_004, signedAt: Self.now - Self.hour)
            try world.run(at: Self.now)
            // Each account once, always by the same purchase, the newest buyer first.
            #expect(world.apple.askedRefunds == ["1004 -", "1003 -", "1001 -"])
            #expect(
                try world.findings() == ["refund_missed 1001 open 0 warning", "refund_missed 1002 open 0 warning"])
            let handed = try world.handIn(at: Self.now)
            #expect(Set(handed) == ["transaction Production/1001", "transaction Production/1002"])
            // Granting knows one of them; the other is handed in again a minute later.
            world.books.know(1_001, signedAt: Self.now)
            #expect(try world.handIn(at: Self.now + Self.minute) == ["transaction Production/1002"])
            // The same share, by a statement that is older than Apple's answer: Apple signs whenever it is asked.
            world.books.know(1_002, signedAt: Self.now - 2 * Self.hour, share: 50_000)
            #expect(try world.handIn(at: Self.now + 3 * Self.minute).isEmpty)
            #expect(
                try world.findings() == [
                    "refund_missed 1001 resolved 1 warning", "refund_missed 1002 resolved 2 warning",
                ])
            #expect(try world.lines("SELECT count(*) FROM reconciliation.apple_feeds") == ["0"])
        }
    }

    @Test func `of a refund whose notification is handed in there is no second case`() async throws {
        try await AppleWorld.with("refund_told", Self.settings) { world in
            for number in 1_001...1_002 {
                try world.buy(number, account: "a\(number)", at: Self.now - Self.day, takenIn: Self.now)
            }
            // Of the second one an older notification is missing, which knows nothing of the refund.
            let told = (1...2).map {
                ScriptedApple.Told(uuid: $0, transaction: 1_000 + $0, signedAt: Self.now - Int64($0) * Self.hour)
            }
            world.apple.told = told
            for number in 1_001...1_002 { world.apple.refunded[number] = [Self.refunded(number, Self.hour + 500)] }
            world.apple.signsAt = Self.now
            try world.run(at: Self.now)
            #expect(
                Set(try world.findings()) == [
                    "notification_missed 0001 open 0 warning", "notification_missed 0002 open 0 warning",
                    "refund_missed 1002 open 0 warning",
                ])
        }
    }

    @Test func `a refund of a purchase that nobody knows is handed in too`() async throws {
        try await AppleWorld.with("refund_unknown", Self.settings) { world in
            try world.buy(1_001, account: "a", at: Self.now - Self.day, takenIn: Self.now)
            world.apple.refunded = [1_001: [Self.refunded(2_001, Self.hour)]]
            world.apple.signsAt = Self.now
            try world.run(at: Self.now)
            #expect(try world.handIn(at: Self.now) == ["transaction Production/2001"])
        }
    }

    @Test func `pages follow each other, and the next turn begins where the last one ended (R24)`() async throws {
        try await AppleWorld.with("refund_pages", Self.settings) { world in
            try world.buy(1_001, account: "a", at: Self.now - Self.day, takenIn: Self.now)
            world.apple.refunded = [1_001: (1...5).map { Self.refunded(2_000 + $0, Self.hour * Int64(6 - $0)) }]
            world.apple.signsAt = Self.now
            // Killed after the first page: it and its revision are kept.
            let apple = world.apple
            try world.run(at: Self.now) { apple.askedRefunds.isEmpty }
            #expect(try world.findings().count == 2)
            try world.run(at: Self.now)
            #expect(world.apple.askedRefunds == ["1001 -", "1001 r2", "1001 r4"])
            #expect(try world.findings().count == 5)
            // Not before the pause is over; then only for what is new.
            try world.run(at: Self.now + Self.hour - 1)
            #expect(world.apple.askedRefunds.count == 3)
            world.apple.refunded[1_001]?.append(Self.refunded(2_006, -Self.minute))
            try world.run(at: Self.now + Self.hour)
            #expect(world.apple.askedRefunds.last == "1001 r5")
            #expect(try world.findings().count == 6)
        }
    }

    @Test func `who dies between a page and its commit asks for the page again`() async throws {
        try await AppleWorld.with("refund_kill", Self.settings) { world in
            try world.buy(1_001, account: "a", at: Self.now - Self.day, takenIn: Self.now)
            world.apple.refunded = [1_001: [Self.refunded(1_001, Self.hour)]]
            world.apple.signsAt = Self.now
            world.books.script.withLock { $0.isSilent = true }
            // Notifications there are none of, so the books are asked about the refund first.
            #expect(throws: (any Error).self) { try world.run(at: Self.now) }
            world.books.script.withLock { $0.isSilent = false }
            try world.run(at: Self.now)
            #expect(world.apple.askedRefunds == ["1001 -", "1001 -"])
            #expect(try world.findings() == ["refund_missed 1001 open 0 warning"])
        }
    }

    @Test func `what was refunded just now may be on its way: the same page is read again a little later`()
        async throws
    {
        try await AppleWorld.with("refund_young", Self.settings) { world in
            try world.buy(1_001, account: "a", at: Self.now - Self.day, takenIn: Self.now)
            world.apple.refunded = [1_001: [Self.refunded(1_001, Self.minute), Self.refunded(1_009, Self.hour)]]
            world.apple.signsAt = Self.now
            try world.run(at: Self.now)
            #expect(try world.findings() == ["refund_missed 1009 open 0 warning"])
            try world.run(at: Self.now + 2 * Self.minute)
            #expect(world.apple.askedRefunds == ["1001 -", "1001 -"])
            #expect(try world.findings().count == 2)
        }
    }

    @Test func `calls of a pass are few and everybody has their turn, also while new buyers come (C-109)`()
        async throws
    {
        // One for notifications, three for buyers.
        let few = ApplePassSettings(firstDays: 1, calls: 4, accountPause: Self.hour)
        try await AppleWorld.with("refund_turns", few) { world in
            for number in 1...6 {
                try world.buy(
                    number, account: "a\(number)", at: Self.now - Int64(number) * Self.minute, takenIn: Self.now)
            }
            // Too long ago.
            try world.buy(7, account: "old", at: Self.now - 91 * Self.day, takenIn: Self.now)
            for pass in 0..<4 {
                let time = Self.now + Int64(pass) * 10 * Self.minute
                // Three new buyers before each further pass, which alone would use up its calls.
                for number in 0..<(pass == 0 ? 0 : 3) {
                    try world.buy(
                        100 * pass + number, account: "n\(pass)-\(number)", at: time, takenIn: time + Self.hour)
                }
                try world.run(at: time)
            }
            // The six of before first, the newest buyers before the others; they are asked again only after the rest.
            let first = world.apple.askedRefunds.map { $0.split(separator: " ")[0] }
            #expect(first.prefix(6) == ["1", "2", "3", "4", "5", "6"])
            for pass in 0..<8 { try world.run(at: Self.now + 2 * Self.hour + Int64(pass) * Self.minute) }
            let asked = Dictionary(grouping: world.apple.askedRefunds) { $0.split(separator: " ")[0] }
            #expect(Set(asked.keys).count == 15 && asked["7"] == nil)
            #expect(asked.values.allSatisfy { (1...2).contains($0.count) })
        }
    }

    @Test func `notifications go first: what they leave of the calls is for refunds`() async throws {
        let few = ApplePassSettings(firstDays: 1, calls: 3, accountPause: Self.hour)
        try await AppleWorld.with("refund_budget", few) { world in
            for number in 1...3 {
                try world.buy(number, account: "a\(number)", at: Self.now - Self.day, takenIn: Self.now)
            }
            world.apple.told = (1...7).map {
                ScriptedApple.Told(uuid: $0, transaction: 1_000 + $0, signedAt: Self.now - Self.hour)
            }
            try world.run(at: Self.now)
            #expect(world.apple.asked.count == 3 && world.apple.askedRefunds.isEmpty)
            try world.run(at: Self.now)
            #expect(world.apple.asked.count == 4 && world.apple.askedRefunds.count == 2)
        }
    }

    private static let troubles: [(ServerAPIError, [String], Int)] = [
        // Apple does not know this one, now or ever: it keeps nobody waiting.
        (ServerAPIError.refused(status: 404, code: .init(rawValue: 4_040_010)), ["1 -", "2 -", "3 -"], 0),
        (.refused(status: 404, code: .init(rawValue: 4_040_002)), ["1 -", "2 -", "3 -"], 0),
        // Apple fails: the others are asked first in the next pass.
        (.refused(status: 500, code: .init(rawValue: 5_000_000)), ["1 -", "2 -", "3 -", "1 -"], 0),
        (.unreadable("cut"), ["1 -", "2 -", "3 -", "1 -"], 0),
        // Too much, or the key: the same one again.
        (.rateLimited(milliseconds: 5), ["1 -", "1 -", "2 -", "3 -"], 0),
        (.unauthorized, ["1 -", "1 -", "2 -", "3 -"], 1),
    ]

    @Test(arguments: troubles) func `who cannot be asked about keeps nobody else waiting (C-108)`(
        error: ServerAPIError, asked: [String], findings: Int
    ) async throws {
        let name = "refund_trouble_\(error.code.filter { $0 != "." })_\(asked.count)_\(error.isRetryable)"
        try await AppleWorld.with(name, Self.settings) { world in
            for number in 1...3 {
                try world.buy(
                    number, account: "a\(number)", at: Self.now - Int64(number) * Self.hour, takenIn: Self.now)
            }
            world.apple.refundFaults = [error]
            try world.run(at: Self.now)
            #expect(try world.findings().count == findings)
            try world.run(at: Self.now + Self.minute)
            #expect(world.apple.askedRefunds == asked)
            #expect(try world.findings().allSatisfy { $0.contains("resolved") })
        }
    }

    @Test func `a revision that Apple knows no more begins anew`() async throws {
        try await AppleWorld.with("refund_revision", Self.settings) { world in
            try world.buy(1_001, account: "a", at: Self.now - Self.day, takenIn: Self.now)
            world.apple.refunded = [1_001: [Self.refunded(1_001, Self.hour)]]
            world.apple.signsAt = Self.now
            try world.run(at: Self.now)
            world.apple.refundFaults = [.refused(status: 400, code: .init(rawValue: 4_000_005))]
            try world.run(at: Self.now + Self.hour)
            #expect(world.apple.askedRefunds == ["1001 -", "1001 r1", "1001 -"])
            #expect(try world.findings().count == 1)
        }
    }

    @Test func `a purchase without Apple's id of the account is its customer's, or its own`() async throws {
        try await AppleWorld.with("refund_accounts", Self.settings) { world in
            var superuser = try world.database.open()
            _ = try superuser.query("SELECT reconciliation.make_month($1)", [.int8(Self.now)])
            for number in [1, 2] {
                _ = try superuser.query(
                    """
                    INSERT INTO reconciliation.journal (id, occurred_at, type, version, environment, transaction_id,
                        customer, correlation_id, stream_offset, body)
                    VALUES (gen_random_uuid(), $1, 'purchase.granted', 1, 'Production', $2, 'c1', 'c', $3, '{}')
                    """, [.int8(Self.now), .text(String(number)), .int8(Int64(number))])
            }
            for number in 1...3 {
                try world.buy(number, account: nil, at: Self.now - Self.day, takenIn: Self.now)
            }
            #expect(
                try world.lines(
                    "SELECT string_agg(account || ' ' || transaction_id, ',' ORDER BY account) FROM reconciliation.apple_accounts"
                ) == ["customer/c1 1,purchase/3 3"])
        }
    }
}
