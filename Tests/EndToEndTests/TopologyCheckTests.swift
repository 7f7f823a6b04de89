import Messages
import TestSupport
import Testing

/// `infra/scripts/topology check` against a real broker: what somebody changed by hand is told.
@Suite(.serialized) struct TopologyCheckTests {
    private func check(_ deployment: Deployment) throws -> Command.Outcome {
        let script = try Places.root() + "/infra/scripts/topology"
        return try Command.capture(
            script, ["check"],
            environment: [
                "PURSER_STATE": deployment.platform.state, "PURSER_VIRTUAL_HOST": deployment.virtualHost,
            ])
    }

    private func control(_ deployment: Deployment, _ arguments: String...) throws {
        let words = arguments.map { $0 == "HOST" ? deployment.virtualHost : $0 }
        try Command.run(deployment.platform.controlScript, ["--silent"] + words)
    }

    @Test func `a broker that serves has what the source says, and its reply queues are no difference`() async throws {
        let deployment = try await Deployment.shared("purchases")
        try await onThread {
            let outcome = try check(deployment)
            #expect(outcome.status == 0, "\(outcome.output)")
            #expect(outcome.output == "the broker has what the source says\n")
        }
    }

    @Test func `whatever is missing, changed or added at the broker is told by its name (S47, C10)`() async throws {
        let stage = try await BrokerStage.make("checked")
        let deployment = stage.deployment
        try await onThread {
            let before = try check(deployment)
            #expect(before.status == 0, "\(before.output)")
            defer {
                _ = try? control(deployment, "delete_user", "eve")
                _ = try? control(deployment, "set_user_tags", "control")
                _ = try? control(deployment, "eval", "application:set_env(rabbit, consumer_timeout, 604800000).")
            }
            try control(deployment, "add_user", "eve", "x")
            try control(deployment, "set_permissions", "-p", "HOST", "eve", "", "", ".*")
            try control(deployment, "set_user_tags", "control", "management")
            try control(deployment, "set_permissions", "-p", "HOST", "gateway", "", ".*", "")
            try control(deployment, "clear_topic_permissions", "-p", "HOST", "gateway", Topology.parked)
            try control(
                deployment, "set_policy", "-p", "HOST", "--priority", "99", "--apply-to", "queues", "short",
                "^granting", #"{"max-length":1}"#)
            try control(deployment, "clear_policy", "-p", "HOST", "granting.wallet")
            try control(deployment, "eval", "application:set_env(rabbit, consumer_timeout, 1800000).")
            let deeds: [Deed] = [
                .declareExchange("purser"), .deleteExchange(Topology.replies), .deleteQueue("granting.commands.parked"),
                .bind("granting.purchases", exchange: Topology.exchange(of: "gateway"), key: "purchase.verified"),
                .unbind("granting.wallet", exchange: Topology.exchange(of: "gateway"), key: "spend.requested"),
                .deleteQueue("retry.5s"), .declareQueue("stranger"),
            ]
            let administrator = try stage.administrator()
            for deed in deeds { #expect(try administrator.attempt([deed]) == [.done], "\(deed)") }
            // Made anew, but not as it was.
            #expect(try administrator.attempt([.declareQueue("retry.5s")]) == [.done])
            let outcome = try check(deployment)
            #expect(outcome.status == 1)
            for line in Self.expected { #expect(outcome.output.contains(line), "\(line) in:\n\(outcome.output)") }
            #expect(!outcome.output.contains("verification"), "what is as it should be is not told")
        }
    }

    private static let expected = [
        "extra    user eve", "extra    permission of eve: read “.*”",
        "differs  user control: tags is “management”, not “”", "differs  permission of gateway: write is “.*”, not “",
        "missing  topic permission of gateway on purser.parked (without a record every routing key is allowed)",
        "extra    policy short: applies to “queues”, definition “max-length=1”, pattern “^granting”, priority “99”",
        "missing  policy granting.wallet", "extra    exchange purser: ", "missing  exchange purser.replies",
        "missing  queue granting.commands.parked",
        "missing  binding purser.parked → queue granting.commands.parked by granting.commands",
        "extra    binding purser.from.gateway → queue granting.purchases by purchase.verified",
        "missing  binding purser.from.gateway → queue granting.wallet by spend.requested",
        "differs  queue retry.5s: arguments is “”, not “x-dead-letter-exchange=purser.return ",
        "extra    queue stranger", "differs  consumer_timeout: 1800000 ms, not at least 604800000",
    ]
}
