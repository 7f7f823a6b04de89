import AMQP
import HTTPClient
import Messages
import Pipeline
import TestSupport
import Testing

/// The largest bodies that get in at all, many at once, at every door: none of the services may need much for them.
@Suite(.timeLimit(.minutes(10))) struct HostileSizeTests {
    /// What design §8 allows each service under bodies of 256 KiB, in KiB.
    private static let memory = 256 << 10
    private static let size = 256 << 10
    /// More than all lanes take ahead: 64 messages each.
    private static let count = 150

    @Test func `bodies of 256 KiB in every queue and request leave each service under 256 MiB (S09)`() async throws {
        let deployment = try await Deployment.shared("hostile")
        try await onThread {
            let pids = deployment.pids()
            try Self.request(deployment)
            let insider = try Insider(deployment)
            try insider.clear()
            for queue in Topology.workQueues where !queue.types.isEmpty { try Self.send(to: queue, insider) }
            for service in Deployment.Service.purser {
                let peak = try deployment.peakMemory(service)
                deployment.note("\(service.rawValue)'s most memory after bodies of 256 KiB: \(peak / 1_024) MiB")
                #expect(peak < Self.memory, "\(service.rawValue)")
            }
            #expect(deployment.pids() == pids, "no process died")
            try insider.clear()
        }
    }

    /// A client that sends what is too large, to every call with a body.
    private static func request(_ deployment: Deployment) throws {
        var client = try HTTPClient.open()
        let token = try deployment.loginToken("hostile-size")
        let body = Array(#"{"signedTransactionInfo":""#.utf8) + filling + Array(#""}"#.utf8)
        for path in ["/api/iap/apple/verify", "/api/iap/apple/verify-without-order", "/api/iap/orders"] {
            var refused = 0
            for _ in 0..<50 {
                let request = HTTPClientRequest(
                    "POST", deployment.gateway + path,
                    headers: [("Authorization", "Bearer " + token), ("Content-Type", "application/json")], body: body)
                // The connection is closed with the answer; whoever still sends then may not get to read it.
                guard let answer = try? client.send(request) else {
                    client = try HTTPClient.open()
                    continue
                }
                #expect(answer.status == 413, "\(path)")
                refused += 1
            }
            #expect(refused > 0, "\(path)")
        }
    }

    /// Half of them one text that is as long, half of them a thousand members deep in what nobody reads.
    private static func send(to queue: Topology.Queue, _ insider: Insider) throws {
        let before = try insider.done(queue)
        // What two queues take would be counted twice.
        let type = try #require(
            queue.types.first { type in Topology.workQueues.filter { $0.types.contains(type) }.count == 1 })
        let text = Array(#"{"signedTransaction":""#.utf8) + filling + Array(#""}"#.utf8)
        let nested = Array(#"{"a":"#.utf8) + [UInt8](repeating: UInt8(ascii: "["), count: size)
        try insider.publish((0..<count).map { insider.message(type, $0.isMultiple(of: 2) ? text : nested) })
        let parked = try insider.parked(of: queue, count: count)
        let done = try insider.done(queue) - before
        #expect(parked.count + done == count, "\(queue.name): \(parked.count) parked, \(done) decided")
        try insider.expectEmpty(queue)
    }

    private static let filling = [UInt8](repeating: UInt8(ascii: "A"), count: size)
}
