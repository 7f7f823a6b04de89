import FoundationEssentials
import Testing

@testable import Messages

@Suite struct TopologyTests {
    private let definitions = Definitions(
        virtualHost: "/", passwordHashes: Dictionary(uniqueKeysWithValues: Topology.accesses.map { ($0.user, "hash") }))

    @Test func `every topic exchange has a permission record for every user, since a missing one means allowed`() {
        let topics = definitions.exchanges.filter { $0.type == "topic" }.map(\.name)
        for user in Topology.accesses.map(\.user) {
            let records = definitions.topicPermissions.filter { $0.user == user }.map(\.exchange)
            #expect(Set(records) == Set(topics), "\(user)")
        }
    }

    @Test func `only verification can say that a purchase is verified`() throws {
        let ways = definitions.bindings.filter { "purchase.verified".contains($0.routingKey) }
        #expect(ways.map(\.source) == [Topology.exchange(of: "verification")])
        let writers = try definitions.permissions.filter {
            Topology.exchange(of: "verification").contains(try Regex($0.write))
        }
        #expect(writers.map(\.user) == ["verification"])
    }

    @Test func `nobody may write the default exchange or the returning exchange`() throws {
        for permission in definitions.permissions {
            let write = try Regex(permission.write)
            #expect(!"amq.default".contains(write) && !Topology.returning.contains(write), "\(permission.user)")
        }
    }

    @Test func `services configure nothing but their own reply queues`() throws {
        for permission in definitions.permissions {
            let configure = try Regex(permission.configure)
            for queue in definitions.queues.map(\.name) { #expect(!queue.contains(configure), "\(permission.user)") }
        }
    }

    @Test func `each queue of work dead-letters to its own parking queue, never back to work`() throws {
        for queue in Topology.queues {
            guard queue.isWork else { continue }
            let policy = try #require(definitions.policies.first { $0.name == queue.name })
            #expect(policy.definition["dead-letter-exchange"] == .text(Topology.parked))
            #expect(policy.definition["dead-letter-routing-key"] == .text(queue.name))
            #expect(policy.definition["dead-letter-strategy"] == .text("at-least-once"))
            #expect(policy.definition["overflow"] == .text("reject-publish"))
            let parked = definitions.bindings.filter { $0.source == Topology.parked && $0.routingKey == queue.name }
            #expect(parked.map(\.destination) == [queue.parkedName])
        }
    }

    @Test func `the delivery limit leaves room for crashes of neighbours`() {
        #expect(Topology.deliveryLimit >= 50)
    }

    @Test func `a delayed message comes back to its one queue`() {
        for queue in Topology.queues {
            guard queue.isWork else { continue }
            let back = definitions.bindings.filter { $0.source == Topology.returning && $0.destination == queue.name }
            #expect(back.map(\.routingKey) == ["*.\(queue.name)"])
        }
    }

    @Test func `every request and fact reaches a queue`() {
        for access in Topology.accesses {
            for type in access.says { #expect(!Topology.queues(accepting: type).isEmpty, "\(type)") }
        }
    }

    @Test func `the stream takes named facts only, none of which has a user id or a signed payload`() {
        let bound = definitions.bindings.filter { $0.destination == Topology.factsStream }.map(\.routingKey)
        #expect(Set(bound) == Set(Topology.streamedFacts.map(\.rawValue)))
        for sample in GoldenMessageTests.samples where Topology.streamedFacts.contains(sample.type) {
            let text = String(decoding: (try? sample.encode()) ?? [], as: UTF8.self)
            #expect(!text.contains("userID") && !text.contains("signedTransaction"), "\(sample.type)")
        }
    }

    @Test func `an operator may replay to every queue and say requests only`() throws {
        let topics = definitions.topicPermissions.filter { $0.user == "control" }
        let says = try #require(topics.first { $0.exchange == Topology.exchange(of: "control") })
        #expect(!"purchase.verified".contains(try Regex(says.write)))
        #expect(!"purchase.submitted".contains(try Regex(says.write)))
        let replays = try Regex(try #require(topics.first { $0.exchange == Topology.retry }).write)
        #expect("5s.granting.purchases".contains(replays) && !"1h.granting.purchases".contains(replays))
    }

    @Test func `definitions are valid JSON with every part`() throws {
        let bytes = try Topology.definitions(passwordHashes: ["gateway": "x"])
        let text = String(decoding: bytes, as: UTF8.self)
        for part in [
            "vhosts", "users", "permissions", "topic_permissions", "policies", "exchanges", "queues", "bindings",
        ] {
            #expect(text.contains("\"\(part)\""))
        }
        #expect(!text.contains("\"verification\" :") && text.contains("\"name\" : \"gateway\""))
    }
}
