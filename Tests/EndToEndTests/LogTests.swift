import AppStoreSimulation
import HTTPClient
import TestSupport
import Testing

/// What the logs of real processes say and what they never say.
@Suite struct LogTests {
    @Test func `one correlation id leads from the request through every service`() async throws {
        let deployment = try await Deployment.shared("purchases")
        try await onThread {
            var backend = try deployment.backend("log-anna")
            let purchase = try deployment.purchase("pyy_danbing_60", account: "log-anna")
            _ = try backend.verify(purchase.signedTransactionInfo, orderNumber: nil)
            let requestID = backend.lastRequestID
            let id = try #require(requestID)
            for service in [Deployment.Service.gateway, .verification, .granting] {
                // The answer may be there before the last line of a lane is.
                try eventually("\(service.rawValue) logs the correlation id \(id)") {
                    TextFiles.read(deployment.log(service)).contains("\"correlation.id\":\"\(id)\"")
                }
            }
        }
    }

    @Test func `the id of Apple's call stands in the lines of all who handle the notification`() async throws {
        let deployment = try await Deployment.shared("purchases")
        try await onThread {
            let body = "{\"signedPayload\":\"\(try deployment.notification("TEST"))\"}"
            let answer = try deployment.sendNotification(Array(body.utf8))
            let id = try #require(answer.header("X-Request-Id"))
            for service in [Deployment.Service.gateway, .intake] {
                try eventually(within: .seconds(5), "\(service.rawValue) logs the correlation id \(id)") {
                    TextFiles.read(deployment.log(service)).contains("\"correlation.id\":\"\(id)\"")
                }
            }
        }
    }

    @Test func `a purchase, its repetition and its refund leave the events of document C (C-110…C-114)`() async throws {
        let deployment = try await Deployment.shared("purchases")
        try await onThread {
            let user = "log-berta"
            guard case .delivered(let delivery) = try deployment.device(user).buy("pyy_danbing_60") else {
                Issue.record("not delivered")
                return
            }
            let store = try deployment.store()
            var backend = try deployment.backend(user)
            let part = try store.refund(delivery.transactionID, environment: "Production", percentage: 50)
            _ = try backend.verify(part.signedTransactionInfo, orderNumber: nil)
            let transaction = "\"transaction.id\":\"\(delivery.transactionID)\""
            for (service, event, who) in [
                (Deployment.Service.gateway, "VerifyRequest", "\"user.id\":\"\(user)\""),
                (.gateway, "VerifyResult", transaction), (.gateway, "DuplicateRequest", transaction),
                (.granting, "Refund", transaction),
            ] {
                try eventually("\(service.rawValue) logs \(event)") {
                    TextFiles.read(deployment.log(service)).split(separator: "\n").contains {
                        $0.contains("\"message\":\"\(event)\"") && $0.contains(who)
                    }
                }
            }
        }
    }

    @Test func `no signed payload, token, key or password is in any log, also of refused requests`() async throws {
        let deployment = try await Deployment.shared("purchases")
        try await onThread {
            // Apps may well name their users by their addresses.
            let user = "canary-anna@mail.example"
            Canaries.register("an e-mail address", [user])
            let token = try deployment.loginToken(user)
            var backend = try deployment.backend(user)
            let purchase = try deployment.purchase("pyy_danbing_60", account: user)
            let evidence = purchase.signedTransactionInfo
            _ = try backend.verify(evidence, orderNumber: nil)
            let other = try deployment.purchase("pyy_danbing_60", account: user).signedTransactionInfo
            _ = refusal { () throws(BackendError) in _ = try backend.verify(other, orderNumber: "IAP-nobody") }
            _ = refusal { () throws(BackendError) in
                _ = try backend.verify(String(evidence.dropLast(4)) + "AAAA", orderNumber: nil)
            }
            _ = refusal { () throws(BackendError) in _ = try backend.verify("canary" + evidence, orderNumber: nil) }
            var stranger = try BackendClient(base: deployment.gateway, token: token + "x")
            _ = refusal { () throws(BackendError) in _ = try stranger.balance() }
            let told = try deployment.notification("ONE_TIME_CHARGE", transaction: evidence)
            for text in [told, told + "AAAA", "canary" + told] { #expect(try deployment.send(text) == 200) }
            let canaries =
                (evidence + "." + told).split(separator: ".").map { String($0.prefix(80)) }
                + [String(token.suffix(43)), user]
                + deployment.secrets.all
            let files = try Command.run("/usr/bin/find", [deployment.logs, "-type", "f"]).split(separator: "\n")
            #expect(files.count >= Deployment.Service.allCases.count)
            for file in files {
                let text = TextFiles.read(String(file))
                for canary in canaries { #expect(!text.contains(canary), "\(file) holds \(canary.prefix(12))…") }
                #expect(!text.contains("PRIVATE KEY"))
            }
        }
    }
}
