import AppStoreServerAPI
import Messages
import Observability
import Postgres
import Synchronization
import TestSupport
import Testing

@testable import Reconciliation

/// Apple's history of notifications against what came in, on a real database.
@Suite(.timeLimit(.minutes(3))) struct NotificationHistoryTests {
    private static let minute: Int64 = 60_000
    private static let hour: Int64 = 3_600_000
    private static let day: Int64 = 86_400_000
    /// 2026-05-28.
    private static let now: Int64 = 1_780_000_000_000

    private static func told(_ number: Int, _ age: Int64, type: String = "REFUND") -> ScriptedApple.Told {
        ScriptedApple.Told(uuid: number, type: type, transaction: 1_000 + number, signedAt: now - age)
    }

    @Test func `what never came is handed in, what changed nothing is told again, what agrees is left (B-131 R24)`()
        async throws
    {
        try await AppleWorld.with("missed") { world in
            let ages: [Int64] = [3 * Self.hour, 4 * Self.hour, 5 * Self.hour]
            // 1 never came; 2 came, and Granting knows nothing so new; 3 came and is known.
            world.apple.told = (1...3).map { Self.told($0, ages[$0 - 1]) }
            for number in [2, 3] { world.books.store(number, at: Self.now - 2 * Self.hour) }
            world.books.know(1_002, signedAt: Self.now - 10 * Self.hour, share: 0)
            world.books.know(1_003, signedAt: Self.now - ages[2] - 10)
            try world.run(at: Self.now)
            #expect(
                try world.findings() == [
                    "notification_unapplied 0002 open 0 warning", "notification_missed 0001 open 0 warning",
                ])
            #expect(
                try world.lines("SELECT evidence ->> 'gapSeconds' FROM reconciliation.findings WHERE id = 2") == [
                    "10800"
                ]
            )
            let missed = "notification \(ScriptedApple.key(1))"
            let unapplied = "redrive \(ScriptedApple.key(2))"
            #expect(Set(try world.handIn(at: Self.now)) == [missed, unapplied])
            // Once, until a minute has passed.
            #expect(try world.handIn(at: Self.now + 59_000).isEmpty)
            #expect(try world.handIn(at: Self.now + 60_000).count == 2)
            // It came; Granting has still to hear of it, and then does.
            world.books.store(1, at: Self.now + 61_000)
            world.books.know(1_002, signedAt: Self.now - ages[1] - 10)
            #expect(try world.handIn(at: Self.now + 61_000).isEmpty)
            #expect(try world.handIn(at: Self.now + 180_000) == ["redrive \(ScriptedApple.key(1))"])
            world.books.know(1_001, signedAt: Self.now - ages[0] - 10)
            #expect(try world.handIn(at: Self.now + 181_000).isEmpty)
            #expect(
                try world.findings() == [
                    "notification_unapplied 0002 resolved 2 warning", "notification_missed 0001 resolved 3 warning",
                ])
            #expect(try world.lines("SELECT count(*) FROM reconciliation.apple_feeds") == ["0"])
        }
    }

    @Test func `what is on its way is not missed, and kinds that change nothing need not be known`() async throws {
        try await AppleWorld.with("young") { world in
            // Told a minute ago; stored a minute ago; no purchase is changed by the last two.
            world.apple.told = [
                Self.told(1, Self.minute), Self.told(2, Self.hour), Self.told(3, Self.hour, type: "TEST"),
                Self.told(4, Self.hour, type: "TOMORROW"),
            ]
            world.books.store(2, at: Self.now - Self.minute)
            for number in [3, 4] { world.books.store(number, at: Self.now - Self.hour) }
            try world.run(at: Self.now)
            #expect(try world.findings().isEmpty)
            // A pass later both are due.
            try world.run(at: Self.now + 15 * Self.minute)
            #expect(try world.findings().count == 2)
        }
    }

    @Test func `days of outage are caught up over passes, the newest first, nothing twice and nothing left (R24)`()
        async throws
    {
        try await AppleWorld.with("outage", ApplePassSettings(firstDays: 9, calls: 4)) { world in
            world.apple.told = (1...8).map { Self.told($0, Int64($0) * Self.day) }
            try world.run(at: Self.now)
            let first = try world.lines(
                "SELECT string_agg(right(subject, 1), '' ORDER BY id) FROM reconciliation.findings")
            #expect(first.first?.hasPrefix("1") ?? false)
            #expect(first.first?.contains("8") == false)
            for number in 1...6 { try world.run(at: Self.now + Int64(number) * Self.minute) }
            #expect(try world.findings().count == 8)
            #expect(try world.lines("SELECT count(*) FROM reconciliation.apple_slices") == ["0"])
            // Away for three days: what lies between is read, with the hour before.
            world.apple.asked = []
            let later = Self.now + 3 * Self.day
            for number in 0...3 { try world.run(at: later + Int64(number)) }
            let from = try #require(world.apple.asked.map(\.from).min())
            #expect(from == Self.now + 6 * Self.minute - 2 * Self.minute - Self.hour)
            #expect(world.apple.asked.map(\.to).max() ?? 0 >= later - 2 * Self.minute)
        }
    }

    @Test func `a page is kept with its token: whoever dies goes on behind it, an expired token begins anew`()
        async throws
    {
        try await AppleWorld.with("pages", ApplePassSettings(firstDays: 1)) { world in
            world.apple.told = (1...5).map { Self.told($0, Self.hour + Int64($0) * Self.minute) }
            // Ends after the first page, as by a kill.
            try world.run(at: Self.now) { false }
            #expect(try world.findings().count == 2)
            world.apple.asked = []
            try world.run(at: Self.now) { false }
            #expect(world.apple.asked.map(\.token) == ["2"])
            #expect(try world.findings().count == 4)
            world.apple.faults = [.refused(status: 400, code: .paginationTokenExpired)]
            world.apple.asked = []
            try world.run(at: Self.now)
            #expect(world.apple.asked.map(\.token) == ["4", nil, "2", "4"])
            #expect(try world.findings().count == 5)
            #expect(try world.lines("SELECT count(*) FROM reconciliation.apple_feeds") == ["5"])
        }
    }

    @Test(arguments: [
        (ServerAPIError.unauthorized, 1), (.unusableKey, 1), (.authorizationPaused(milliseconds: 5), 1),
        (.refused(status: 404, code: .init(rawValue: 4_040_003)), 1),
        (.refused(status: 500, code: .init(rawValue: 5_000_000)), 4), (.unreadable("cut"), 4),
        (.rateLimited(milliseconds: 5), 0),
    ])
    func `who cannot be asked is a finding at once, after an hour, or never; it ends with the next answer (C-108)`(
        error: ServerAPIError, passes: Int
    ) async throws {
        try await AppleWorld.with(
            "trouble_\(error.code.filter { $0 != "." })_\(passes)", ApplePassSettings(firstDays: 1)
        ) {
            world in
            for number in 1...5 {
                world.apple.faults = [error]
                try world.run(at: Self.now + Int64(number))
                let expected = passes > 0 && number >= passes ? 1 : 0
                #expect(try world.findings().count == expected, "pass \(number)")
            }
            try world.run(at: Self.now + 6)
            #expect(try world.findings() == (passes > 0 ? ["apple_unreachable game resolved 0 critical"] : []))
        }
    }

    @Test func `twenty are under way at once, the newest first; an accepted one is watched and not handed in`()
        async throws
    {
        try await AppleWorld.with("window", ApplePassSettings(firstDays: 2)) { world in
            world.apple.told = (1...45).map { Self.told($0, Self.hour + Int64($0) * Self.minute) }
            try world.run(at: Self.now)
            let first = try world.handIn(at: Self.now)
            #expect(Set(first) == Set((1...20).map { "notification \(ScriptedApple.key($0))" }))
            #expect(try world.handIn(at: Self.now + 1_000).isEmpty)
            for number in 1...5 {
                world.books.store(number, at: Self.now)
                world.books.know(1_000 + number, signedAt: Self.now)
            }
            // What was answered makes room with the look after.
            #expect(try world.handIn(at: Self.now + 2_000).count == 5)
            var superuser = try world.database.open()
            _ = try superuser.query(
                "UPDATE reconciliation.findings SET state = 'accepted', ended_at = 1 WHERE subject LIKE '%000030'")
            for number in 3...9 { _ = try world.handIn(at: Self.now + Int64(number) * 120_000) }
            #expect(
                try world.lines("SELECT attempts FROM reconciliation.apple_feeds WHERE subject LIKE '%000030'") == ["0"]
            )
            world.books.store(30, at: Self.now)
            world.books.know(1_030, signedAt: Self.now)
            for number in 0...4 { _ = try world.handIn(at: Self.now + 2 * Self.hour + Int64(number) * 120_000) }
            #expect(
                try world.lines("SELECT state FROM reconciliation.findings WHERE subject LIKE '%000030'") == [
                    "resolved"
                ])
        }
    }

    @Test func `it is written down before it is said: what the broker does not take is said a minute later`()
        async throws
    {
        try await AppleWorld.with("written", ApplePassSettings(firstDays: 1)) { world in
            world.apple.told = [Self.told(1, Self.hour)]
            world.books.script.withLock { $0.isSilent = true }
            #expect(throws: (any Error).self) { try world.run(at: Self.now) }
            #expect(try world.findings().isEmpty)
            world.books.script.withLock { $0.isSilent = false }
            try world.run(at: Self.now)
            world.books.script.withLock { $0.takesNothing = true }
            #expect(try world.handIn(at: Self.now).isEmpty)
            #expect(try world.findings() == ["notification_missed 0001 redriven 1 warning"])
            world.books.script.withLock { $0.takesNothing = false }
            for attempt in 1...4 { #expect(try world.handIn(at: Self.now + Int64(attempt) * Self.hour).count == 1) }
            #expect(try world.findings() == ["notification_missed 0001 redriven 5 critical"])
        }
    }
}
