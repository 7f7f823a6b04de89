import AMQP
import AppStoreSimulation
import Messages
import Postgres
import TestSupport
import Testing

/// A broker that takes nothing any more, and processes that die meanwhile: a pair of this suite's own.
@Suite(.serialized, .timeLimit(.minutes(10))) struct AlarmTests {
    /// Below what any broker uses: the alarm is raised at once.
    private static let alarm = "20MB"
    private static let normal = "1024MB"

    private static func limit(_ platform: Platform, _ limit: String) throws {
        _ = try Command.run(platform.controlScript, ["set_vm_memory_high_watermark", "absolute", limit])
    }

    @Test func `a gateway before a broker with an alarm refuses each caller at once, and nothing is lost (R14)`()
        async throws
    {
        try await onThread {
            let platform = try Platform.own("alarm")
            defer { try? platform.stop() }
            let deployment = try Deployment.start("alarm", on: platform)
            defer { deployment.remove() }
            var backend = try deployment.backend("r14-anna")
            let first = try deployment.purchase("pyy_danbing_60", account: "r14-anna")
            #expect(try backend.verify(first.signedTransactionInfo, orderNumber: nil).status == "GRANTED")
            let second = try deployment.purchase("pyy_danbing_300", account: "r14-anna")
            try Self.limit(platform, Self.alarm)
            // The first one finds it out, the others are told without being published. Who waited for an answer in vain is
            // told another code.
            for _ in 0..<5 {
                let problem = refusal { () throws(BackendError) in
                    _ = try backend.verify(second.signedTransactionInfo, orderNumber: nil)
                }
                #expect(problem?.status == 503 && problem?.code == "SERVICE_BUSY")
                #expect(problem?.mayFinish == false && problem?.retryAfterSeconds != nil)
            }
            try Self.limit(platform, Self.normal)
            for service in Deployment.Service.purser { try deployment.waitUntilReady(service) }
            var status = ""
            try eventually("the purchase is taken again") {
                do throws(BackendError) {
                    status = try backend.verify(second.signedTransactionInfo, orderNumber: nil).status
                    return true
                } catch {
                    guard error.isRetryable else { throw error }
                    return false
                }
            }
            #expect(["GRANTED", "ALREADY_GRANTED"].contains(status))
            #expect(try backend.balance() == ["danbing": 360, "timeMinutes": 0])
            try Self.killedBeforePublishing(deployment)
        }
    }

    /// Granted and stored while nothing can be published; killed there; told after all, under the id that was stored.
    private static func killedBeforePublishing(_ deployment: Deployment) throws {
        let books = Books(deployment: deployment)
        let insider = try Insider(deployment)
        var inspector = try Inspector.open(insider.endpoint, connectionName: "insider")
        let spy = "alarm.spy"
        try inspector.declareQueue(spy, arguments: ["x-queue-type": "quorum"])
        try inspector.bindQueue(
            spy, exchange: Topology.exchange(of: "granting"), routingKey: MessageType.purchaseGranted.rawValue)
        inspector.close()
        #expect(deployment.stop(.granting) == .exit(0))
        let purchase = try deployment.purchase("pyy_danbing_680", account: "c3-anna")
        var backend = try deployment.backend("c3-anna")
        // Nobody grants: the answer does not come, the purchase waits in its queue.
        _ = refusal { () throws(BackendError) in
            _ = try backend.verify(purchase.signedTransactionInfo, orderNumber: nil)
        }
        try limit(deployment.platform, alarm)
        try deployment.launch(.granting)
        try eventually("it is granted, though nothing can be published") {
            try books.grants(purchase.transactionID) == 1
        }
        let stored = try books.number(
            "SELECT count(*) FROM granting.facts WHERE key LIKE '%' || $1", [.text(purchase.transactionID)])
        #expect(stored == 1)
        deployment.crash(.granting)
        #expect(try deployment.messages(in: spy) == 0, "it was killed before it could tell")
        try limit(deployment.platform, normal)
        try deployment.start([.granting])
        let told = try insider.taken(from: spy, count: 1)
        // The redelivery tells it, and where the kill is longer ago than the sweep's patience, a sweep as well.
        #expect(Set(told.map(\.properties.messageID)).count == 1)
        let known = try books.number(
            "SELECT count(*) FROM granting.facts WHERE id = $1::uuid", [.text(told.first?.properties.messageID ?? "")])
        #expect(known == 1, "told under the id that was stored")
        #expect(try backend.verify(purchase.signedTransactionInfo, orderNumber: nil).status == "ALREADY_GRANTED")
        #expect(try books.balances("c3-anna") == ["DANBING": 680])
        try books.expectConsistent()
    }
}
