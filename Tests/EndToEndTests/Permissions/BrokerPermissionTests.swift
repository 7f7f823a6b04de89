import AMQP
import Messages
import TestSupport
import Testing

/// What a service that was taken over could do at the broker: exactly what its row says. Everything is attempted: every
/// user, every exchange and queue the broker has, every routing key the topology knows.
@Suite(.serialized) struct BrokerPermissionTests {
    /// Every key that leads anywhere, and some that do not.
    private func keys(_ stage: BrokerStage) -> [String] {
        let types = Topology.accesses.flatMap(\.says) + Topology.queues.flatMap(\.types) + Topology.streamedFacts
        let delays = Topology.RetryDelay.allCases
        let delayed =
            stage.queues.map { Topology.RetryDelay.seconds5.routingKey(for: $0) }
            + Topology.workQueues.flatMap { queue in delays.map { $0.routingKey(for: queue.name) } }
        let replies = BrokerRights.users.map { Topology.replyQueue(user: $0, boot: "x") }
        let strange = ["", "#", "*", "purchase", "Purchase.Verified", "purchase.verified.x", "x.purchase.verified"]
        return Array(Set(types.map(\.rawValue) + delayed + stage.queues + replies + strange).union(BrokerRights.keys))
            .sorted()
    }

    @Test func `every exchange, queue and message type has its rights written down`() async throws {
        let stage = try await BrokerStage.make("rights")
        for queue in stage.queues { #expect(BrokerRights.isListed(queue: queue), "\(queue)") }
        for queue in BrokerRights.queues where !queue.hasSuffix("*") {
            #expect(stage.queues.contains(queue), "\(queue)")
        }
        let expected = BrokerRights.exchanges.union([Topology.returning, ""])
        #expect(Set(stage.exchanges.filter { !$0.hasPrefix("amq.") }) == expected)
        for type in Topology.accesses.flatMap(\.says) { #expect(BrokerRights.keys.contains(type.rawValue), "\(type)") }
        #expect(Topology.accesses.map(\.user) == BrokerRights.users)
        #expect(Topology.accesses.filter(\.asks).map(\.user) == BrokerRights.askers)
    }

    @Test(arguments: BrokerRights.users)
    func `a user publishes what its row says, everything else is refused (S47)`(_ user: String) async throws {
        let stage = try await BrokerStage.make("rights")
        try await onThread {
            let places = stage.exchanges.flatMap { exchange in keys(stage).map { (exchange, $0) } }
            let verdicts = try stage.client(user).attempt(places.map { .publish(exchange: $0.0, key: $0.1) })
            #expect(verdicts.count == places.count && places.count > 1_000)
            for ((exchange, key), verdict) in zip(places, verdicts) {
                let expected = BrokerRights.maySay(user, exchange, key) ? BareClient.Verdict.done : .closed(403)
                #expect(verdict == expected, "\(user) on \"\(exchange)\" with the key \"\(key)\"")
            }
        }
    }

    @Test(arguments: BrokerRights.users)
    func `a user reads, purges, makes, binds and deletes what its row says, nothing else (S47)`(_ user: String)
        async throws
    {
        let stage = try await BrokerStage.make("rights")
        try await onThread {
            let own = BrokerRights.users.map { Topology.replyQueue(user: $0, boot: "probe") }
            let strange = ["\(user).other", "\(user)_replies_x", "x.\(user).replies.y", "amq.gen-x"]
            let queues = stage.queues + own + strange
            // Those of others have to be there to be refused.
            _ = try stage.administrator().attempt(own.map { .declareQueue($0) })
            let client = try stage.client(user)
            func expect(_ deeds: [(String, Deed)], _ isAllowed: (String) -> Bool) throws {
                for ((queue, deed), verdict) in zip(deeds, try client.attempt(deeds.map(\.1))) {
                    #expect(verdict.isRefused != isAllowed(queue), "\(user): \(deed) was \(verdict)")
                }
            }
            let makes = { BrokerRights.mayMake(user, $0) }
            let reads = { BrokerRights.mayRead(user, $0) }
            try expect(queues.map { ($0, .declareQueue($0)) }, makes)
            for exchange in stage.exchanges {
                let deeds = queues.map { ($0, Deed.bind($0, exchange: exchange, key: "k")) }
                try expect(deeds) { makes($0) && exchange == Topology.replies }
                let undone = queues.map { ($0, Deed.unbind($0, exchange: exchange, key: "k")) }
                try expect(undone) { makes($0) && exchange == Topology.replies }
            }
            // Nobody can fetch from a stream or purge it: where it is not refused the broker ends the connection (540).
            let emptied = queues.filter { $0 != Topology.factsStream || !reads($0) }
            try expect(emptied.map { ($0, .get($0)) }, reads)
            try expect(queues.map { ($0, .consume($0)) }, reads)
            try expect(emptied.map { ($0, .purge($0)) }, reads)
            try expect(queues.map { ($0, .deleteQueue($0)) }, makes)
            _ = try stage.administrator().attempt(own.map { .deleteQueue($0) })
        }
    }

    @Test(arguments: BrokerRights.users)
    func `a user changes no exchange (S47)`(_ user: String) async throws {
        let stage = try await BrokerStage.make("rights")
        try await onThread {
            let client = try stage.client(user)
            // The broker itself guards the default exchange and amq.* against everybody.
            let exchanges = stage.exchanges.filter { !$0.isEmpty && !$0.hasPrefix("amq.") }
            var deeds = exchanges.flatMap { [Deed.declareExchange($0), .deleteExchange($0)] }
            for source in exchanges {
                deeds += exchanges.map { .bindExchange($0, source: source, key: "#") }
            }
            for (deed, verdict) in zip(deeds, try client.attempt(deeds)) {
                // An answer may be asked for by binding; that exchange may be read by whoever asks.
                if case .bindExchange(let to, let source, _) = deed, BrokerRights.askers.contains(user),
                    source == Topology.replies, BrokerRights.exchanges.contains(to)
                {
                    continue
                }
                #expect(verdict.isRefused, "\(user): \(deed) was \(verdict)")
            }
        }
    }

    @Test func `no user enters another virtual host (S47)`() async throws {
        let deployment = try await Deployment.idle("rights")
        let elsewhere = try await TestBroker.shared("elsewhere")
        // At once: the broker lets each refused client wait for three seconds.
        try await withThrowingTaskGroup { group in
            for user in BrokerRights.users {
                for host in ["/", elsewhere.virtualHost] {
                    let endpoint = try AMQPEndpoint(url: deployment.brokerURL(user: user)).with(virtualHost: host)
                    group.addTask {
                        try await onThread {
                            let error = #expect(throws: BareClient.Failure.self) { _ = try BareClient(endpoint) }
                            #expect(error?.description.contains("530") == true, "\(user): \(String(describing: error))")
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    @Test func `no service is an administrator of the broker`() async throws {
        let deployment = try await Deployment.idle("rights")
        try await onThread {
            let listed = try Command.run(deployment.platform.controlScript, ["--silent", "list_users"])
            for user in BrokerRights.users {
                #expect(listed.split(separator: "\n").contains("\(user)\t[]"), "\(user) in \(listed)")
            }
        }
    }
}
