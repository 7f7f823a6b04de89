import AppStoreSimulation
import Glibc
import TestSupport
import Testing

/// Processes that die while purchases flow. One deployment for each test: others must not notice.
@Suite(.serialized) struct CrashTests {
    @Test
    func `kill -9 of each service and of all at once while purchases flow: each is granted once (R01, R02 small)`()
        async throws
    {
        try await onThread {
            let deployment = try Deployment.start("crash", on: try Platform.shared())
            defer { deployment.remove() }
            let load = PurchaseLoad.start(on: deployment, minimum: 200, seed: 1)
            for service in Deployment.Service.purser + [.granting, .verification] {
                try load.waitForMore(10)
                deployment.crash(service)
                #expect(deployment.process(service)?.ended == .signal(SIGKILL))
                try deployment.start([service])
            }
            for _ in 1...2 {
                try load.waitForMore(10)
                for service in Deployment.Service.purser { deployment.crash(service) }
                try deployment.start(Deployment.Service.purser)
            }
            try load.waitForMore(10)
            let bought = try load.finish()
            #expect(bought.count >= 200)
            try expectEachGrantedOnce(bought, on: deployment)
        }
    }

    @Test func `kill -9 of the simulator loses no transaction it has told of`() async throws {
        try await onThread {
            let deployment = try Deployment.start("simulator", on: try Platform.shared())
            defer { deployment.remove() }
            let first = try deployment.purchase("pyy_danbing_60", account: "anna")
            let second = try deployment.purchase("pyy_danbing_60", account: "anna")
            try deployment.store().finish(first.transactionID, environment: "Production")
            deployment.crash(.simulator)
            try deployment.start([.simulator])
            let unfinished = try deployment.store().unfinished(appleAccount: "anna", environment: "Production")
            #expect(unfinished.map(\.transactionID) == [second.transactionID])
            // The authority is the same: what it signs now is still trusted.
            var backend = try deployment.backend("anna")
            #expect(try backend.verify(unfinished[0].signedTransactionInfo, orderNumber: nil).status == "GRANTED")
        }
    }

    @Test func `SIGTERM under load ends every service with code 0 within ten seconds, and nothing is lost (R27)`()
        async throws
    {
        try await onThread {
            let deployment = try Deployment.start("stop", on: try Platform.shared())
            defer { deployment.remove() }
            let load = PurchaseLoad.start(on: deployment, minimum: 40, seed: 2)
            for service in Deployment.Service.purser {
                try load.waitForMore(5)
                let began = ContinuousClock.now
                #expect(deployment.stop(service) == .exit(0), "\(service.rawValue)")
                #expect(ContinuousClock.now - began <= .seconds(10), "\(service.rawValue)")
                try deployment.start([service])
            }
            try load.waitForMore(5)
            try expectEachGrantedOnce(try load.finish(), on: deployment)
            #expect(deployment.stop(.simulator) == .exit(0))
        }
    }
}
