import AppStoreSimulation
import TestSupport
import Testing

/// The drills that people run by hand, against a deployment of their own kind.
@Suite struct DemoTests {
    @Test func `the demo tells its story and every expectation holds, also the second time`() async throws {
        let deployment = try await Deployment.shared("purchases")
        try await onThread {
            let settings = [
                "PURSER_DRILL_GATEWAY_URL": deployment.gateway, "PURSER_DRILL_SIMULATOR_URL": deployment.simulator,
                "PURSER_DRILL_APPS": deployment.folder + "/apps",
                "PURSER_DRILL_DATABASE": deployment.platform.conninfo(
                    role: "purser_auditor", database: deployment.database),
            ]
            // The demo has Apple tell the gateway of everything; the other tests of this deployment tell what they want.
            defer { try? deployment.store().register(SimulatedApp(bundleID: Deployment.bundleID)) }
            for _ in 1...2 {
                let outcome = try deployment.run("purser-drills", ["demo"], settings)
                #expect(outcome.status == 0, "\(outcome.output)")
                #expect(outcome.output.contains("expectations hold."))
            }
            try Books(deployment: deployment).expectConsistent()
        }
    }

    @Test func `the demo names the expectation that fails`() async throws {
        let deployment = try await Deployment.shared("purchases")
        try await onThread {
            // Another bundle id: the first purchase is refused.
            let outcome = try deployment.run(
                "purser-drills", ["demo"],
                [
                    "PURSER_DRILL_GATEWAY_URL": deployment.gateway, "PURSER_DRILL_SIMULATOR_URL": deployment.simulator,
                    "PURSER_DRILL_APPS": deployment.folder + "/apps", "PURSER_DRILL_BUNDLE_ID": "com.example.other",
                ])
            #expect(outcome.status == 1)
            #expect(outcome.output.contains("APPLE_TRANSACTION_VERIFY_FAILED"))
        }
    }

    @Test func `a token made by the drill is accepted`() async throws {
        let deployment = try await Deployment.shared("purchases")
        try await onThread {
            let outcome = try deployment.run(
                "purser-drills", ["token", "drill-anna"], ["PURSER_DRILL_APPS": deployment.folder + "/apps"])
            #expect(outcome.status == 0)
            let token = try #require(outcome.output.split(separator: "\n").first)
            var backend = try BackendClient(base: deployment.gateway, token: String(token))
            #expect(try backend.balance() == ["danbing": 0, "timeMinutes": 0])
        }
    }
}
