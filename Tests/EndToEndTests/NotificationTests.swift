import AppStoreSimulation
import HTTPClient
import Messages
import Pipeline
import TestSupport
import Testing

/// Apple calls, by the real processes.
@Suite(.serialized, .timeLimit(.minutes(5))) struct NotificationTests {
    @Test func `a notification is answered 200, stored once and told once, however often it comes (A-047 A-049)`()
        async throws
    {
        let deployment = try await Deployment.shared("purchases")
        try await onThread {
            let uuid = UUIDText.random()
            let purchase = try deployment.purchase("pyy_danbing_60", account: "told-anna")
            let signed = try deployment.notification(
                "ONE_TIME_CHARGE", uuid: uuid, transaction: purchase.signedTransactionInfo)
            for path in [
                "/api/apple/iap/notifications", "/api/apple/iap/notifications/sandbox", "/apple/iap/notifications",
                "/apple/iap/notifications/sandbox", "/api/v1/payments/apple/notifications", "/iap/notify",
            ] { #expect(try deployment.send(signed, to: path) == 200, "\(path)") }
            try eventually("all six are counted") { try deployment.arrivals(uuid).times == 6 }
            #expect(try deployment.arrivals(uuid).rows == 1)
            #expect(try deployment.tellings(uuid) == 1)
        }
    }

    @Test func `what is forged is answered 200 and goes no further; what is no notification is told so`() async throws {
        let deployment = try await Deployment.shared("purchases")
        try await onThread {
            let books = Books(deployment: deployment)
            let before = try books.number("SELECT count(*) FROM intake.quarantine", [])
            let uuid = UUIDText.random()
            let other = try deployment.notification("REFUND", uuid: uuid, bundleID: "com.example.other")
            #expect(try deployment.send(other) == 200)
            #expect(try deployment.send("not.signed.data") == 200)
            try eventually("both are put aside") {
                try books.number("SELECT count(*) FROM intake.quarantine", []) - before == 2
            }
            #expect(try deployment.arrivals(uuid).rows == 0)
            let garbage = try deployment.sendNotification(Array("garbage".utf8))
            #expect(garbage.status == 400)
            let old = try deployment.sendNotification(Array(#"{"notification_type":"REFUND"}"#.utf8))
            #expect(old.status == 400)
            #expect(String(decoding: old.body, as: UTF8.self).contains("NOTIFICATION_VERSION_UNSUPPORTED"))
            let large = try deployment.sendNotification([UInt8](repeating: 0x20, count: (256 << 10) + 1))
            #expect(large.status == 413)
        }
    }

    @Test func `stored notifications are told again by a command, as new messages`() async throws {
        let deployment = try await Deployment.shared("purchases")
        try await onThread {
            let uuid = UUIDText.random()
            #expect(try deployment.send(try deployment.notification("TEST", uuid: uuid)) == 200)
            try eventually("stored") { try deployment.arrivals(uuid).rows == 1 }
            func redrive(_ words: String...) throws -> Command.Outcome {
                try deployment.run(
                    "purser", ["notifications", "redrive"] + words, deployment.controlEnvironment)
            }
            let dry = try redrive("--uuid", uuid.uppercased(), "--dry-run", "--actor", "tests")
            #expect(dry.status == 0 && dry.output.contains("1 would be told again"), "\(dry.output)")
            #expect(try deployment.tellings(uuid) == 1)
            let done = try redrive("--uuid", uuid, "--environment", "Production", "--actor", "tests")
            #expect(done.status == 0 && done.output.contains("1 told again"), "\(done.output)")
            #expect(try deployment.tellings(uuid) == 2)
            let unknown = try redrive("--uuid", UUIDText.random(), "--actor", "tests")
            #expect(unknown.status == 1 && unknown.output.contains("not stored"))
            #expect(try redrive("--unrecognised", "--actor", "tests").status == 0)
            #expect(try redrive("--uuid", uuid).status == 2, "nobody asked")
        }
    }

    @Test func `kill -9 of gateway and intake while notifications come: what was answered 200 is stored, each once`()
        async throws
    {
        try await onThread {
            let deployment = try Deployment.start("notified", on: try Platform.shared())
            defer { deployment.remove() }
            var answered: [String] = []
            func send(_ count: Int) throws {
                for _ in 0..<count {
                    let uuid = UUIDText.random()
                    let signed = try deployment.notification("REFUND", uuid: uuid)
                    // Apple tries again until it is answered 200.
                    var status = 0
                    try eventually("answered") {
                        status = (try? deployment.send(signed)) ?? 0
                        return status == 200
                    }
                    answered.append(uuid)
                }
            }
            try send(10)
            deployment.crash(.intake)
            try send(10)
            try deployment.start([.intake])
            try send(5)
            for _ in 1...2 {
                try send(10)
                deployment.crash(.intake)
                deployment.crash(.gateway)
                try deployment.start([.gateway, .intake])
            }
            try send(5)
            let books = Books(deployment: deployment)
            try eventually("all are stored") {
                try books.number("SELECT count(*) FROM intake.notifications", []) == Int64(answered.count)
            }
            for uuid in answered { #expect(try deployment.tellings(uuid) == 1) }
            try eventually("all are passed on") { try deployment.messages(in: "intake.notifications") == 0 }
            let audit = try deployment.run("purser", ["audit"], deployment.controlEnvironment)
            #expect(audit.status == 0, "\(audit.output)")
        }
    }

    @Test func `without a broker Apple is told 503 at once, and 200 again when it is back`() async throws {
        try await onThread {
            let platform = try Platform.own("notified_outage")
            defer { try? platform.stop() }
            let deployment = try Deployment.start("notified_outage", on: platform)
            defer { deployment.remove() }
            let (before, during) = (UUIDText.random(), UUIDText.random())
            #expect(try deployment.send(try deployment.notification("TEST", uuid: before)) == 200)
            try platform.run("broker", "stop")
            let signed = try deployment.notification("TEST", uuid: during)
            let began = ContinuousClock.now
            let refused = try deployment.sendNotification(
                Array("{\"signedPayload\":\"\(signed)\"}".utf8))
            #expect(refused.status == 503)
            #expect(refused.headers.contains { $0.name.lowercased() == "retry-after" })
            #expect(ContinuousClock.now - began < .seconds(10))
            try platform.run("broker", "start")
            try eventually("answered 200") { (try? deployment.send(signed)) == 200 }
            try eventually("stored") { try deployment.arrivals(during).rows == 1 }
            #expect(try deployment.arrivals(before).rows == 1, "a broker that stops loses nothing")
            try deployment.waitUntilReady(.gateway)
        }
    }
}
