import AMQP
import Messages
import Observability
import Pipeline
import Postgres
import Runtime
import Synchronization
import TestSupport
import Testing

@testable import Reconciliation

/// The journal on a real stream and a real database.
@Suite(.serialized, .timeLimit(.minutes(5))) struct JournalTests {
    private static func stage(_ name: String) async throws -> ReconciliationStage {
        try await ReconciliationStage.make("journal", name)
    }

    @Test func `each fact is recorded once, with what it is found by, however often it is told (R25)`() async throws {
        let stage = try await Self.stage("once")
        try await onThread {
            let facts = try stage.granted(1...50)
            try stage.lane.publish(facts, copies: 2)
            try stage.read { try stage.number("SELECT next_offset FROM reconciliation.journal_position") == 100 }
            #expect(try stage.count() == 50)
            let row = try #require(
                try stage.rows(
                    """
                    SELECT *, body::jsonb ->> 'productID' AS product FROM reconciliation.journal
                    WHERE transaction_id = '7'
                    """
                ).first)
            #expect(try row.text("type") == "purchase.granted" && row.text("environment") == "Production")
            #expect(try row.text("order_number") == "IAP7" && row.text("customer") == "c7")
            #expect(try row.int8("occurred_at") == ReconciliationStage.time && row.text("product") == "p")
            #expect(try UUIDText.format(row.uuid("id")) == facts[6].id.rawValue)
        }
    }

    @Test(arguments: JournalPoint.allCases)
    func `a reader that dies anywhere is followed by one that goes on where its commit ended (C1 C2 C4)`(
        point: JournalPoint
    ) async throws {
        let stage = try await Self.stage("dies_\(point.rawValue)")
        try await onThread {
            try stage.lane.publish(try stage.granted(1...20))
            let isDead = Mutex(false)
            let stop = StopSignal()
            let first = stage.journal(stop: stop) { reached in
                guard reached == point else { return }
                isDead.withLock { $0 = true }
                throw SimulatedCrash(at: .beforeCommit)
            }
            #expect(first.shutDown(within: .seconds(60)), "it dies by itself")
            #expect(isDead.withLock { $0 } && !first.isActive && !first.isReady)
            let kept = try stage.count()
            #expect((kept > 0) == (point == .committed || point == .acknowledged))
            try stage.lane.publish(try stage.granted(21...30))
            let metrics = Metrics()
            try stage.read(metrics: metrics) { try stage.count() == 30 }
            let again = JournalMetrics(metrics)
            #expect(Int64(again.recorded.value) == 30 - kept, "what is there is not recorded again")
            #expect(try stage.number("SELECT count(DISTINCT id) FROM reconciliation.journal") == 30)
            #expect(try stage.number("SELECT next_offset FROM reconciliation.journal_position") == 30)
            #expect(try stage.count() == 30)
        }
    }

    @Test func `one copy reads, the next one takes over when its session is gone`() async throws {
        let stage = try await Self.stage("turns")
        try await onThread {
            let stops = [StopSignal(), StopSignal()]
            let copies = stops.map { stage.journal(stop: $0) }
            defer { for stop in stops { stop.stop() } }
            try eventually("one reads") { copies.contains(where: \.isActive) }
            try eventually("the other one waits") { copies.allSatisfy(\.isReady) }
            #expect(copies.filter(\.isActive).count == 1)
            try stage.lane.publish(try stage.granted(1...10))
            try eventually("it has recorded") { try stage.count() == 10 }
            let found = copies.firstIndex { $0.isActive }
            let active = try #require(found)
            stops[active].stop()
            #expect(copies[active].shutDown(within: .seconds(30)))
            try eventually("the other one reads") { copies[1 - active].isActive }
            try stage.lane.publish(try stage.granted(11...20))
            try eventually("it goes on") { try stage.count() == 20 }
            // Its session dies under it: it comes back, and loses nothing.
            _ = try stage.rows(
                """
                SELECT pg_terminate_backend(pid) AS ended FROM pg_stat_activity
                WHERE application_name = 'purser-reconciliation journal' AND datname = current_database()
                """)
            try stage.lane.publish(try stage.granted(21...30))
            try eventually("it comes back") { try stage.count() == 30 }
            #expect(try stage.texts("SELECT kind AS t FROM reconciliation.findings") == [])
        }
    }

    @Test func `a stream that was made anew is read from its beginning, and told of`() async throws {
        let stage = try await Self.stage("renewed")
        try await onThread {
            try stage.lane.publish(try stage.granted(1...20))
            try stage.read { try stage.count() == 20 }
            try stage.renewStream()
            try stage.lane.publish(try stage.granted(21...25))
            // The reader stands behind the end of this stream: what comes next tells it.
            let stop = StopSignal()
            let part = stage.journal(stop: stop)
            defer { stop.stop() }
            try eventually("it reads") { part.isActive }
            try stage.lane.publish(try stage.granted(26...30))
            try eventually("all of it is recorded") { try stage.count() == 30 }
            try eventually { try stage.number("SELECT next_offset FROM reconciliation.journal_position") == 10 }
            #expect(try stage.texts("SELECT kind AS t FROM reconciliation.findings") == ["stream_replaced"])
        }
    }

    @Test(arguments: [(100, 100, false), (100, 116, false), (100, 117, true), (100, 40, false), (0, 5_000, true)])
    func `facts that left the stream before they were read are a finding`(next: Int, first: Int, isGap: Bool) {
        let gap = JournalBatch.gap(from: Int64(next), to: Int64(first))
        #expect((gap != nil) == isGap)
        #expect(gap == nil || gap?.finding == .journalGap(from: Int64(next), to: Int64(first)))
    }

    @Test func `what is no fact is passed over and told of, what comes after it is recorded`() async throws {
        let stage = try await Self.stage("unreadable")
        try await onThread {
            var facts = try stage.granted(1...4)
            facts[1].body = Array("{".utf8)
            facts[2].properties.headers[HeaderName.occurredAt] = 5
            try stage.lane.publish(facts)
            try stage.read { try stage.number("SELECT next_offset FROM reconciliation.journal_position") == 4 }
            #expect(try stage.count() == 2)
            #expect(
                try stage.texts("SELECT evidence ->> 'reason' AS t FROM reconciliation.findings ORDER BY id") == [
                    "message.body_unreadable", "message.time_implausible",
                ])
        }
    }

    @Test func `the journal lies in months, and months that are no longer kept go as a whole`() async throws {
        let stage = try await Self.stage("months")
        try await onThread {
            // 2026-01-31, 2026-02-01, 2026-05-28, to the millisecond at the border.
            let times: [Int64] = [1_769_903_999_999, 1_769_904_000_000, ReconciliationStage.time]
            for (place, time) in times.enumerated() {
                try stage.lane.publish(try stage.granted((place + 1)...(place + 1), at: time))
            }
            try stage.read { try stage.count() == 3 }
            let placed = """
                SELECT tableoid::regclass::text || ' ' || transaction_id AS t FROM reconciliation.journal ORDER BY 1
                """
            #expect(
                try stage.texts(placed) == [
                    "reconciliation.journal_2026_01 1", "reconciliation.journal_2026_02 2",
                    "reconciliation.journal_2026_05 3",
                ])
            // Four months are kept at least: of February's nothing is dropped before June begins.
            try stage.read(months: 4) {
                try stage.number("SELECT count(*) FROM reconciliation.journal WHERE transaction_id = '1'") == 0
            }
            #expect(try stage.count() == 2)
        }
    }
}
