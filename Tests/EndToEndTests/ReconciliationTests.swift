import AMQP
import AppStoreSimulation
import Glibc
import Messages
import Pipeline
import Postgres
import TestSupport
import Testing

/// What was lost between the services comes back, with real processes.
@Suite(.serialized, .timeLimit(.minutes(5))) struct ReconciliationTests {
    private static let product = "pyy_danbing_60"

    @Test func `what a purged queue swallowed is granted to its buyer, once (A-120 B-112 R23)`()
        async throws
    {
        let deployment = try await Deployment.shared("reconciliation")
        try await onThread {
            let books = Books(deployment: deployment)
            var anna = try deployment.backend("anna")
            // The stream works: a purchase that is granted comes into the journal.
            let first = try deployment.purchase(Self.product, account: "anna")
            #expect(try anna.verify(first.signedTransactionInfo, orderNumber: nil).status == "GRANTED")
            try eventually("the journal has it") {
                try books.number(
                    "SELECT count(*) FROM reconciliation.journal WHERE transaction_id = $1 AND type = 'purchase.granted'",
                    [.text(first.transactionID)]) == 1
            }
            // Verified while Granting is away, and then the queue is emptied.
            #expect(deployment.stop(.granting) == .exit(0))
            let lost = try deployment.purchase(Self.product, account: "anna")
            _ = try? anna.verify(lost.signedTransactionInfo, orderNumber: nil)
            try eventually("it is verified and waits") {
                try deployment.messages(in: Topology.grantingPurchases.name) == 1
            }
            _ = try Command.run(
                deployment.platform.controlScript,
                ["purge_queue", "-p", deployment.virtualHost, Topology.grantingPurchases.name])
            #expect(try books.grants(lost.transactionID) == 0)
            try deployment.start([.granting])
            try eventually(within: .seconds(120), "it is granted") { try books.grants(lost.transactionID) == 1 }
            try eventually("the case is closed") {
                try books.text(
                    "SELECT string_agg(kind || ' ' || state, ',') FROM reconciliation.findings WHERE transaction_id = $1",
                    [.text(lost.transactionID)]) == "purchase_undecided resolved"
            }
            let owner = try books.text(
                """
                SELECT user_id FROM granting.transactions JOIN granting.customers ON customer = owner
                WHERE transaction_id = $1
                """, [.text(lost.transactionID)])
            #expect(owner == "anna")
            #expect(try anna.verify(lost.signedTransactionInfo, orderNumber: nil).status == "ALREADY_GRANTED")
            #expect(
                try books.number("SELECT count(*) FROM reconciliation.findings WHERE state <> 'resolved'", []) == 0)
        }
    }

    @Test func `of two copies one works; kill -9 of it, and the other goes on where it was`() async throws {
        let deployment = try await Deployment.shared("reconciliation")
        try await onThread {
            let books = Books(deployment: deployment)
            var settings = deployment.environment(.reconciliation)
            settings["PURSER_RECONCILIATION_METRICS_PORT"] = String(try FreePort.find())
            let second = try ChildProcess.start(
                try Places.program(Deployment.Service.reconciliation.program), environment: settings,
                log: deployment.log(.reconciliation))
            defer { second.crash() }
            func sessions(holdingLock: Bool) throws -> Int64 {
                try books.number(
                    """
                    SELECT count(*) FROM pg_stat_activity a
                    WHERE datname = current_database() AND application_name = 'purser-reconciliation journal'
                        AND EXISTS (SELECT FROM pg_locks l WHERE l.pid = a.pid AND l.locktype = 'advisory' AND granted) = $1
                    """, [.bool(holdingLock)])
            }
            try eventually("one holds the lock, one waits for it") {
                try sessions(holdingLock: true) == 1 && sessions(holdingLock: false) == 1
            }
            let before = try books.number("SELECT next_offset FROM reconciliation.journal_position", [])
            // The first one took the lock; it may have been either where this suite ran before.
            deployment.crash(.reconciliation)
            #expect(deployment.process(.reconciliation)?.ended == .signal(SIGKILL))
            try eventually("the other one has the lock") { try sessions(holdingLock: true) == 1 }
            var ben = try deployment.backend("ben")
            for _ in 1...3 {
                let purchase = try deployment.purchase(Self.product, account: "ben")
                #expect(try ben.verify(purchase.signedTransactionInfo, orderNumber: nil).status == "GRANTED")
                try eventually("it is in the journal once") {
                    try books.number(
                        """
                        SELECT count(*) FROM reconciliation.journal
                        WHERE transaction_id = $1 AND type = 'purchase.granted'
                        """, [.text(purchase.transactionID)]) == 1
                }
            }
            #expect(try books.number("SELECT next_offset FROM reconciliation.journal_position", []) >= before + 3)
            #expect(
                try books.number("SELECT count(*) FROM reconciliation.findings WHERE kind LIKE 'journal%'", []) == 0)
            try deployment.start([.reconciliation])
        }
    }

    @Test func `an operator has a lost purchase granted, and nobody gets another's (A-127)`()
        async throws
    {
        let deployment = try await Deployment.shared("reconciliation")
        try await onThread {
            let books = Books(deployment: deployment)
            func purser(_ words: String...) throws -> Command.Outcome {
                try deployment.run("purser", words, deployment.controlEnvironment)
            }
            // Nobody mends it by itself meanwhile.
            #expect(deployment.stop(.reconciliation) == .exit(0) && deployment.stop(.granting) == .exit(0))
            var carl = try deployment.backend("carl")
            let lost = try deployment.purchase(Self.product, account: "carl")
            _ = try? carl.verify(lost.signedTransactionInfo, orderNumber: nil)
            try eventually("it is verified and waits") {
                try deployment.messages(in: Topology.grantingPurchases.name) == 1
            }
            _ = try Command.run(
                deployment.platform.controlScript,
                ["purge_queue", "-p", deployment.virtualHost, Topology.grantingPurchases.name])
            try deployment.start([.granting])
            let granted = try purser("regrant", lost.transactionID, "--actor", "tests", "--reason", "ticket 5")
            #expect(granted.status == 0 && granted.output.contains("granted: 60 DANBING"), "\(granted.output)")
            let again = try purser("regrant", lost.transactionID, "--actor", "tests", "--reason", "ticket 5")
            #expect(again.status == 0 && again.output.contains("was granted before"), "\(again.output)")
            let theft = try purser(
                "regrant", lost.transactionID, "--user", "mallory", "--actor", "tests", "--reason", "wants it")
            #expect(theft.status == 1 && theft.output.contains("BOUND_TO_OTHER_USER"), "\(theft.output)")
            let unknown = try purser("regrant", "123", "--actor", "tests", "--reason", "x")
            #expect(unknown.status == 1 && unknown.output.contains("TRANSACTION_NOT_FOUND"), "\(unknown.output)")
            #expect(try books.grants(lost.transactionID) == 1)
            let found = try purser("find", "--transaction", lost.transactionID)
            #expect(found.status == 0 && found.output.contains("regrant asked by tests: ticket 5"), "\(found.output)")
            try deployment.start([.reconciliation])
        }
    }

    @Test func `a balance changed by hand is found by the next pass, and ends the audit with 1 (R28)`()
        async throws
    {
        let deployment = try await Deployment.shared("reconciliation")
        try await onThread {
            var dora = try deployment.backend("dora")
            let bought = try deployment.purchase(Self.product, account: "dora")
            #expect(try dora.verify(bought.signedTransactionInfo, orderNumber: nil).status == "GRANTED")
            func waiting() throws -> Int {
                try deployment.metric(
                    "purser_reconciliation_findings_waiting", of: .reconciliation,
                    labels: ["balance_differs", "critical"])
            }
            func change(by amount: Int) throws {
                var superuser = try deployment.platform.connect(deployment.database)
                _ = try superuser.query(
                    """
                    UPDATE granting.accounts SET balance = balance + $1
                    WHERE customer = (SELECT customer FROM granting.customers WHERE user_id = 'dora')
                    """, [.int8(Int64(amount))])
            }
            func audit() throws -> Command.Outcome {
                try deployment.run("purser", ["audit", "--full"], deployment.controlEnvironment)
            }
            #expect(try waiting() == 0)
            try change(by: 7)
            try eventually("it is told by the metric") { try waiting() == 1 }
            let spoiled = try audit()
            #expect(spoiled.status == 1 && spoiled.output.contains("reconciliation.critical"), "\(spoiled.output)")
            let books = Books(deployment: deployment)
            let today = try books.text("SELECT to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD')", [])
            func purser(_ words: String...) throws -> Command.Outcome {
                try deployment.run(
                    "purser", words + ["--date", today, "--app", "cloudpc"], deployment.controlEnvironment)
            }
            let differing = try purser("reconcile")
            #expect(differing.status == 1 && differing.output.contains("1 wallets differ"), "\(differing.output)")
            try change(by: -7)
            try eventually("it ends by itself") { try waiting() == 0 }
            let agreeing = try purser("reconcile")
            #expect(agreeing.status == 0 && agreeing.output.contains("0 wallets differ"), "\(agreeing.output)")
            let page = try purser("report", "--format", "html").output
            #expect(page.hasPrefix("<!DOCTYPE html>") && page.contains("<svg") && !page.contains("dora"), "\(page)")
        }
    }

    @Test func `a parked message is a finding, is shown with its reason, comes back, and may be accepted (R08)`()
        async throws
    {
        let deployment = try await Deployment.shared("reconciliation")
        try await onThread {
            func purser(_ words: String...) throws -> Command.Outcome {
                try deployment.run("purser", words, deployment.controlEnvironment)
            }
            let books = Books(deployment: deployment)
            let insider = try Insider(deployment)
            let queue = Topology.reconciliationCommands
            try insider.publish([insider.message(.findingAcceptRequested, Array("{}".utf8))])
            try eventually("it is parked") { try deployment.messages(in: queue.parkedName) == 1 }
            try eventually("it is a finding") {
                try purser("findings", "list").output.contains(queue.parkedName)
            }
            let shown = try purser("replay", queue.name, "--dry-run")
            #expect(shown.output.contains("message.body_unreadable") && shown.output.contains("1 would be sent back"))
            try eventually("it is still there") { try deployment.messages(in: queue.parkedName) == 1 }
            #expect(try purser("replay", queue.name).output.contains("1 sent back"))
            try eventually("it has gone round and is parked again") {
                try purser("replay", queue.name, "--dry-run").output.contains("1 would be sent back")
            }
            try eventually("that is a finding too") {
                try books.number(
                    "SELECT count(*) FROM reconciliation.findings WHERE subject = $1 AND state = 'open'",
                    [.text(queue.parkedName)]) == 1
            }
            let id = try books.text(
                "SELECT id FROM reconciliation.findings WHERE subject = $1 AND state = 'open'",
                [.text(queue.parkedName)])
            #expect(try purser("findings", "show", id).output.contains("message.body_unreadable"))
            #expect(try purser("findings", "accept", id, "--actor", "tests", "--reason", "a test").status == 0)
            #expect(try purser("findings", "accept", id, "--actor", "tests", "--reason", "a test").status == 1)
            #expect(try purser("findings", "show", id).output.contains("accepted by tests: a test"))
            try insider.clear()
        }
    }
}
