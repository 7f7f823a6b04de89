import AMQP
import AppStoreSimulation
import Postgres
import TestSupport
import Testing

/// The command line of the services.
@Suite struct CommandTests {
    @Test(arguments: Deployment.Service.purser)
    func `version prints the name and the version`(service: Deployment.Service) async throws {
        let deployment = try await Deployment.shared("purchases")
        try await onThread {
            let outcome = try deployment.run(service.program, ["version"], [:])
            #expect(outcome.status == 0)
            #expect(outcome.output.contains(try Regex("^\(service.program) [0-9]+\\.[0-9]+\\.[0-9]+\\n$")))
        }
    }

    @Test(arguments: Deployment.Service.purser)
    func `check is content with a running deployment`(service: Deployment.Service) async throws {
        let deployment = try await Deployment.shared("purchases")
        try await onThread {
            let outcome = try deployment.run(service.program, ["check"], deployment.environment(service))
            #expect(outcome.status == 0, "\(outcome.output)")
            #expect(!outcome.output.contains("FAIL"))
        }
    }

    @Test func `check lists every problem at once`() async throws {
        let deployment = try await Deployment.shared("purchases")
        try await onThread {
            let outcome = try deployment.run(
                "purser-gateway", ["check"], deployment.environment(.gateway),
                changes: [
                    "PURSER_GATEWAY_HTTP_PORT": "eighty", "PURSER_GATEWAY_APPS": "/nowhere/apps",
                    "PURSER_GATEWAY_LOG_LEVEL": "loud", "PURSER_GATEWAY_HTTP_PROT": "80",
                    "PURSER_GATEWAY_AMQP_URL": "amqp://gateway:wrong@127.0.0.1:\(deployment.platform.broker.port)/",
                ])
            #expect(outcome.status != 0)
            for word in ["HTTP_PORT", "LOG_LEVEL", "HTTP_PROT", "/nowhere/apps", "FAIL broker"] {
                #expect(outcome.output.contains(word), "\(word) is missing in: \(outcome.output)")
            }
        }
    }

    @Test func `check names a schema that is older than the program and queues that are missing`() async throws {
        let deployment = try await Deployment.shared("purchases")
        try await onThread {
            let outcome = try deployment.run(
                "purser-granting", ["check"], deployment.environment(.granting),
                changes: [
                    "PURSER_GRANTING_DATABASE": "\(deployment.platform.superuser) dbname=postgres",
                    "PURSER_GRANTING_AMQP_URL": deployment.brokerURL(user: "granting") + "-not-there",
                ])
            #expect(outcome.status == 1)
            #expect(outcome.output.contains("FAIL broker"))
            #expect(outcome.output.contains("FAIL schema granting"))
        }
    }

    @Test(arguments: Deployment.Service.purser)
    func `config shows effective values and masks secrets`(service: Deployment.Service) async throws {
        let deployment = try await Deployment.shared("purchases")
        try await onThread {
            let outcome = try deployment.run(service.program, ["config"], deployment.environment(service))
            #expect(outcome.status == 0)
            #expect(outcome.output.contains("PURSER_\(service.rawValue.uppercased())_LOG_LEVEL=debug"))
            #expect(outcome.output.contains("AMQP_URL=***"))
            for secret in deployment.secrets.all { #expect(!outcome.output.contains(secret)) }
            #expect(!outcome.output.contains(deployment.platform.rolePassword("purser_granting")))
        }
    }

    @Test func `a service without settings says all that is missing and exits with 2`() async throws {
        let deployment = try await Deployment.shared("purchases")
        try await onThread {
            let outcome = try deployment.run("purser-verification", [], [:])
            #expect(outcome.status == 2)
            for name in ["AMQP_URL", "DATABASE", "APPS"] {
                #expect(outcome.output.contains("PURSER_VERIFICATION_\(name)"))
            }
        }
    }

    @Test func `the simulator says what it needs, too`() async throws {
        let deployment = try await Deployment.shared("purchases")
        try await onThread {
            let outcome = try deployment.run(
                "appstore-simulator", [], ["PURSER_SIMULATOR_HTTP_PORT": "99999", "PURSER_SIMULATOR_STAET": "/tmp"])
            #expect(outcome.status == 2)
            for name in ["HTTP_PORT", "STATE must be set", "STAET"] { #expect(outcome.output.contains(name)) }
        }
    }

    @Test func `an audit of a running deployment asks database and broker, and a spoiled balance ends it with 1 (R28)`()
        async throws
    {
        try await onThread {
            let deployment = try Deployment.start("audit", on: try Platform.shared())
            defer { deployment.remove() }
            let bought = try deployment.purchase("pyy_danbing_60", account: "anna")
            var backend = try deployment.backend("anna")
            #expect(try backend.verify(bought.signedTransactionInfo, orderNumber: nil).status == "GRANTED")
            let clean = try deployment.run("purser", ["audit"], deployment.controlEnvironment)
            #expect(clean.status == 0 && clean.output.contains("\nqueues: empty\n"), "\(clean.output)")
            var superuser = try deployment.platform.connect(deployment.database)
            _ = try superuser.query("UPDATE granting.accounts SET balance = balance + 1")
            let spoiled = try deployment.run("purser", ["audit", "--json"], deployment.controlEnvironment)
            #expect(spoiled.status == 1 && spoiled.output.contains("balance 61, ledger 60"), "\(spoiled.output)")
            for secret in deployment.secrets.all + [deployment.platform.rolePassword("purser_auditor"), "anna"] {
                #expect(!(clean.output + spoiled.output).contains(secret))
            }
        }
    }
}
