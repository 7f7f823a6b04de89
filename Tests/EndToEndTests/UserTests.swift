import AppStoreSimulation
import TestSupport
import Testing

/// Users who go, guests who register, and the sandbox swept: by the command line, against the real processes.
/// One after the other: all of them buy in the sandbox of one deployment, and one sweeps it.
@Suite(.serialized) struct UserTests {
    private static func purser(_ deployment: Deployment, _ words: String...) throws -> Command.Outcome {
        try deployment.run("purser", words, deployment.controlEnvironment)
    }

    @Test func `an erased user is nobody: the books stay, evidence forgets them, a new login begins anew (B-027)`()
        async throws
    {
        let deployment = try await Deployment.shared("users")
        try await onThread {
            let user = "erase-anna-canary"
            var backend = try deployment.backend(user)
            let purchase = try deployment.purchase("pyy_danbing_60", account: user)
            #expect(try backend.verify(purchase.signedTransactionInfo, orderNumber: nil).status == "GRANTED")
            let words = ["users", "erase", "--app", "cloudpc", "--user", user]
            let shown = try deployment.run("purser", words, deployment.controlEnvironment)
            #expect(shown.status == 0 && shown.output.contains("1 signed transactions handed in"), "\(shown.output)")
            #expect(try backend.balance()["danbing"] == 60, "nothing was changed")
            let decision = ["--yes", "--actor", "tests", "--reason", "asked"]
            let erased = try deployment.run("purser", words + decision, deployment.controlEnvironment)
            #expect(erased.status == 0 && erased.output.contains("the books stay under customer"), "\(erased.output)")
            #expect(try backend.balance()["danbing"] == 0)
            // Verification waits half a minute, so that no lane writes the name after it has looked.
            try eventually(within: .seconds(120), "evidence has forgotten the user") {
                try deployment.run("purser", words, deployment.controlEnvironment).output
                    .contains("nothing is kept under this name")
            }
            // The purchase is bound to somebody who is gone; a new one is the new account's.
            let again = refusal { () throws(BackendError) in
                _ = try backend.verify(purchase.signedTransactionInfo, orderNumber: nil)
            }
            #expect(again?.code == "TRANSACTION_ALREADY_BOUND_TO_OTHER_USER")
            let other = try deployment.purchase("pyy_danbing_60", account: user)
            #expect(try backend.verify(other.signedTransactionInfo, orderNumber: nil).status == "GRANTED")
            #expect(try backend.balance()["danbing"] == 60)
            let audit = try Self.purser(deployment, "audit", "--full")
            #expect(audit.status == 0, "\(audit.output)")
        }
    }

    @Test func `a guest's wallet becomes the registered user's, two wallets never one`() async throws {
        let deployment = try await Deployment.shared("users")
        try await onThread {
            let (guest, user) = ("guest-1", "transfer-anna")
            var backend = try deployment.backend(guest)
            let purchase = try deployment.purchase("pyy_danbing_60", account: guest)
            #expect(try backend.verify(purchase.signedTransactionInfo, orderNumber: nil).status == "GRANTED")
            func transfer(_ from: String) throws -> Command.Outcome {
                try Self.purser(
                    deployment, "users", "transfer", "--app", "cloudpc", "--from", from, "--to", user, "--actor",
                    "tests", "--reason", "registered")
            }
            let moved = try transfer(guest)
            #expect(moved.status == 0 && moved.output.contains("transferred"), "\(moved.output)")
            var registered = try deployment.backend(user)
            #expect(try registered.balance()["danbing"] == 60)
            #expect(try registered.verify(purchase.signedTransactionInfo, orderNumber: nil).status == "ALREADY_GRANTED")
            var second = try deployment.backend("guest-2")
            let other = try deployment.purchase("pyy_danbing_60", account: "guest-2")
            #expect(try second.verify(other.signedTransactionInfo, orderNumber: nil).status == "GRANTED")
            let refused = try transfer("guest-2")
            #expect(refused.status == 1 && refused.output.contains("user_has_books"), "\(refused.output)")
            #expect(try second.balance()["danbing"] == 60)
        }
    }

    @Test func `the sandbox is swept out of a tester's wallet, what was paid for stays (A-054 A-146)`() async throws {
        let deployment = try await Deployment.shared("users")
        try await onThread {
            var backend = try deployment.backend(Deployment.tester)
            let paid = try deployment.purchase("pyy_danbing_60", account: Deployment.tester)
            let tried = try deployment.purchase(
                "pyy_danbing_60", account: Deployment.tester, environment: "Sandbox")
            for purchase in [paid, tried] {
                #expect(try backend.verify(purchase.signedTransactionInfo, orderNumber: nil).status == "GRANTED")
            }
            let words = ["sandbox", "sweep", "--app", "cloudpc", "--actor", "tests"]
            let dry = try deployment.run("purser", words + ["--dry-run"], deployment.controlEnvironment)
            #expect(dry.status == 0 && dry.output.contains("1 sandbox purchase(s) would be swept"), "\(dry.output)")
            #expect(try backend.balance()["danbing"] == 120)
            let swept = try deployment.run("purser", words, deployment.controlEnvironment)
            #expect(swept.status == 0 && swept.output.contains("60 DANBING"), "\(swept.output)")
            #expect(try backend.balance()["danbing"] == 60)
            let audit = try Self.purser(deployment, "audit", "--full")
            #expect(audit.status == 0, "\(audit.output)")
        }
    }

    @Test func `a reviewer who is listed after buying gets the purchase by the import, without a restart (A-149)`()
        async throws
    {
        let deployment = try await Deployment.shared("users")
        try await onThread {
            let reviewer = "app-review"
            var backend = try deployment.backend(reviewer)
            let tried = try deployment.purchase("pyy_danbing_60", account: reviewer, environment: "Sandbox")
            let refused = refusal { () throws(BackendError) in
                _ = try backend.verify(tried.signedTransactionInfo, orderNumber: nil)
            }
            #expect(refused?.code == "SANDBOX_NOT_ALLOWED" && refused?.mayFinish == false)
            let file = "\(deployment.folder)/apps/cloudpc.yaml"
            let text = TextFiles.read(file)
            #expect(text.contains("reviewers: []"))
            try TextFiles.write(text.replacing("reviewers: []", with: "reviewers: [\(reviewer)]"), to: file)
            let imported = try Self.purser(deployment, "catalog", "import", "--yes", "--actor", "tests", file)
            #expect(imported.status == 0, "\(imported.output)")
            try eventually("the held purchase is delivered") { try backend.balance()["danbing"] == 60 }
            let again = try backend.verify(tried.signedTransactionInfo, orderNumber: nil)
            #expect(again.status == "ALREADY_GRANTED")
        }
    }
}
