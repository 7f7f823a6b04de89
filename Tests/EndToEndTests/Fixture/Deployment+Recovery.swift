import AppStoreSimulation
import Glibc
import JSON
import Messages
import Postgres
import TestSupport

/// What an operator finds when machines are lost.
extension Deployment {
    /// A service stands still, as a machine does whose memory is being moved; it goes on after `thaw`.
    func freeze(_ service: Service) { process(service)?.send(SIGSTOP) }

    /// It goes on where it was.
    func thaw(_ service: Service) { process(service)?.send(SIGCONT) }

    /// A copy of the database as it is. No process may be connected to it.
    func backUpDatabase() throws {
        var connection = try platform.connect()
        try connection.executeScript("CREATE DATABASE \"\(database)_backup\" TEMPLATE \"\(database)\"")
    }

    /// The database as it was when the copy was made; what came since is gone.
    func restoreDatabase() throws {
        do {
            var connection = try platform.connect()
            try connection.executeScript("DROP DATABASE \"\(database)\" WITH (FORCE)")
            try connection.executeScript("ALTER DATABASE \"\(database)_backup\" RENAME TO \"\(database)\"")
        }
        // Rights on the database itself are not in its copy.
        try platform.makeRoles(database: database)
    }

    /// Stops every service of ours; each must end well.
    func stopServices() -> Bool {
        Service.purser.reversed().allSatisfy { stop($0) == .exit(0) }
    }

    /// Spends from a user's wallet, as the app's server does; the whole answer, as text.
    func spend(_ amount: Int64, id: String, by user: String) throws -> String {
        var server = try serverBackend()
        let answer = try server.send(
            "POST", "/api/wallet/consume",
            [
                "userId": .string(user), "assetType": "DANBING", "amount": .integer(amount), "sourceId": .string(id),
                "deadline": "2099-01-01T00:00:00Z",
            ])
        return "\(answer)"
    }

    /// Waits until nothing is left to do: every queue of work is empty, every fact is announced and in the journal.
    func settle() throws {
        let books = Books(deployment: self)
        try eventually(within: .seconds(60), "everything is announced and in the journal") {
            try books.number(
                """
                (SELECT count(*) FROM granting.unannounced) + (SELECT count(*) FROM verification.unannounced)
                    + (SELECT count(*) FROM intake.unannounced) + (SELECT count(*) FROM granting.facts f
                        WHERE type = ANY($1::text[])
                            AND NOT EXISTS (SELECT FROM reconciliation.journal j WHERE j.id = f.id))
                """, [.textArray(Topology.streamedFacts.map(\.rawValue))]) == 0
        }
    }
}
