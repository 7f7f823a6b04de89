import AppStoreSimulation
import Messages
import Postgres
import TestSupport
import Testing

/// Many copies of reconciliation, one at work: whoever dies is followed by another.
@Suite(.serialized, .timeLimit(.minutes(5))) struct FailoverTests {
    private static let product = "pyy_danbing_60"
    /// The lock is asked for once a second, and a killed session is gone at once: seconds, on a machine that is busy.
    private static let takeover = Duration.seconds(20)

    @Test
    func `of three copies one is at work; kill -9 of it, twice, and nothing is missed or kept or repaired twice (R23)`()
        async throws
    {
        let deployment = try await Deployment.shared("reconciliation_copies")
        try await onThread {
            let books = Books(deployment: deployment)
            let copies = try ReconciliationCopies(3, of: deployment)
            defer { copies.endAll() }
            var anna = try deployment.backend("anna")
            for _ in 1...2 {
                _ = try copies.waitForOne(.journal)
                _ = try copies.waitForOne(.checks)
                try Self.buy(3, &anna, deployment)
                // A purchase is lost while whoever would notice it dies.
                let lost = try Self.lose(&anna, deployment)
                try copies.crash(.checks)
                if copies.count > 1, try copies.active(.journal).count == 1 { try copies.crash(.journal) }
                try Self.buy(3, &anna, deployment)
                _ = try copies.waitForOne(.journal, within: Self.takeover)
                _ = try copies.waitForOne(.checks, within: Self.takeover)
                try eventually(within: .seconds(60), "what was lost is granted") { try books.grants(lost) == 1 }
                if copies.count == 1 { break }
            }
            try eventually("the journal holds every fact") {
                try books.number(
                    """
                    SELECT count(*) FROM granting.facts f WHERE type = ANY($1::text[])
                        AND NOT EXISTS (SELECT FROM reconciliation.journal j WHERE j.id = f.id)
                    """, [.textArray(Topology.streamedFacts.map(\.rawValue))]) == 0
            }
            #expect(
                try books.number(
                    "SELECT count(*) - count(DISTINCT id) FROM reconciliation.journal", []) == 0, "each once")
            try eventually("every case is closed") {
                try books.number("SELECT count(*) FROM reconciliation.findings WHERE state <> 'resolved'", []) == 0
            }
            #expect(
                try books.number("SELECT count(*) FROM reconciliation.findings WHERE kind LIKE 'journal%'", []) == 0)
            #expect(
                try books.number(
                    """
                    SELECT count(*) FROM (SELECT at - lag(at) OVER (PARTITION BY finding ORDER BY id) AS pause
                        FROM reconciliation.finding_events WHERE event = 'redriven') AS tried WHERE pause < 59000
                    """, []) == 0, "nothing was repaired by two at once")
            try books.expectConsistent()
        }
    }

    private static func buy(_ count: Int, _ user: inout BackendClient, _ deployment: Deployment) throws {
        for _ in 1...count {
            let purchase = try deployment.purchase(product, account: "anna")
            #expect(try user.verify(purchase.signedTransactionInfo, orderNumber: nil).status == "GRANTED")
        }
    }

    /// Verified, and gone before it was decided; its transaction id.
    private static func lose(_ user: inout BackendClient, _ deployment: Deployment) throws -> String {
        #expect(deployment.stop(.granting) == .exit(0))
        let lost = try deployment.purchase(product, account: "anna")
        _ = try? user.verify(lost.signedTransactionInfo, orderNumber: nil)
        try eventually("it is verified and waits") { try deployment.messages(in: Topology.grantingPurchases.name) == 1 }
        try deployment.purge(Topology.grantingPurchases)
        try deployment.start([.granting])
        return lost.transactionID
    }
}
