import AppStoreSimulation
import TestSupport
import Testing

/// A broker and a database that die while purchases flow: a pair of this suite's own, not the one others use.
@Suite(.serialized) struct OutageTests {
    @Test
    func `broker and database killed and stopped while purchases flow: each is granted once (R03, R04, R05 small)`()
        async throws
    {
        try await onThread {
            let platform = try Platform.own("outage")
            defer { try? platform.stop() }
            let deployment = try Deployment.start("outage", on: platform)
            defer { deployment.remove() }
            let load = PurchaseLoad.start(on: deployment, minimum: 100, seed: 3)
            for (script, ending) in [
                ("database", "kill"), ("database", "stop"), ("broker", "kill"), ("broker", "stop"),
            ] {
                try load.waitForMore(10)
                try platform.run(script, ending)
                try platform.run(script, "start")
            }
            // Both at once; the broker is back first.
            try load.waitForMore(10)
            try platform.run("database", "kill")
            try platform.run("broker", "kill")
            try platform.run("broker", "start")
            try platform.run("database", "start")
            try load.waitForMore(10)
            let bought = try load.finish()
            #expect(bought.count >= 100)
            for service in Deployment.Service.purser {
                #expect(deployment.process(service)?.ended == nil, "\(service.rawValue) had to be restarted")
                try deployment.waitUntilReady(service)
            }
            try expectEachGrantedOnce(bought, on: deployment)
        }
    }
}
