import HTTPClient
import TestSupport

/// Further copies of `purser-reconciliation` beside the deployment's own, and which one of all does the work.
final class ReconciliationCopies {
    /// A piece of work that one copy does, by the metric that is 1 there.
    enum Work: String {
        case journal = "purser_reconciliation_journal_active"
        case checks = "purser_reconciliation_checks_active"
    }

    /// One that runs.
    private struct Copy {
        let process: ChildProcess
        let port: Int
    }

    private var copies: [Copy]

    /// All of them: the deployment's own, and as many more as are missing to `count`.
    init(_ count: Int, of deployment: Deployment) throws {
        guard let own = deployment.process(.reconciliation) else {
            throw Places.Missing(description: "reconciliation was not started")
        }
        copies = [Copy(process: own, port: deployment.port("reconciliation.metrics"))]
        while copies.count < count {
            let port = try FreePort.find()
            var settings = deployment.environment(.reconciliation)
            settings["PURSER_RECONCILIATION_METRICS_PORT"] = String(port)
            let process = try ChildProcess.start(
                try Places.program(Deployment.Service.reconciliation.program), environment: settings,
                log: deployment.log(.reconciliation))
            copies.append(Copy(process: process, port: port))
        }
    }

    /// How many live.
    var count: Int { copies.count }

    /// The places of those that say they do `work`; who cannot be asked does nothing.
    func active(_ work: Work) throws -> [Int] {
        var client = try HTTPClient.open()
        return copies.indices.filter { place in
            let url = "http://127.0.0.1:\(copies[place].port)/metrics"
            guard let answer = try? client.send(HTTPClientRequest("GET", url)) else { return false }
            let lines = String(decoding: answer.body, as: UTF8.self).split(separator: "\n")
            return lines.contains { $0 == "\(work.rawValue) 1" }
        }
    }

    /// Waits until exactly one does `work`; its place.
    func waitForOne(_ work: Work, within limit: Duration = .seconds(30)) throws -> Int {
        try eventually(within: limit, "one copy does \(work)") { try active(work).count == 1 }
        guard let place = try active(work).first else { throw Places.Missing(description: "nobody does \(work)") }
        return place
    }

    /// `kill -9` of the copy that does `work`.
    func crash(_ work: Work) throws {
        copies.remove(at: try waitForOne(work)).process.crash()
    }

    /// Ends all of them.
    func endAll() {
        for copy in copies { copy.process.crash() }
    }
}
