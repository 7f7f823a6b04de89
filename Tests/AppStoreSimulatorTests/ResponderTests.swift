import AppStoreSimulation
import Crypto
import HTTPClient
import JSON
import TestSupport
import Testing

@testable import AppStoreSimulator

/// The simulator as Apple's responder.
@Suite struct ResponderTests {
    private static let address = "http://127.0.0.1:8099/ocsp"

    private static func ask(_ stage: SimulatorStage, _ authority: SimulatedAuthority) throws -> HTTPClientResponse {
        var client = try HTTPClient.open()
        let question = try OCSPRequest(about: authority.leaf, issuedBy: authority.intermediate, hasNonce: true)
        return try client.send(
            HTTPClientRequest(
                "POST", "\(stage.base)/ocsp", headers: [("Content-Type", "application/ocsp-request")],
                body: question.der))
    }

    @Test func `the responder is named by the certificates and answers as it is told`() async throws {
        try await SimulatorStage.run(ocspAddress: Self.address) { stage in
            let authority = try stage.authority()
            #expect(authority.leaf.ocspAddresses == [Self.address])
            #expect(authority.intermediate.ocspAddresses == [Self.address])
            let now = WallClock.milliseconds() / 1_000
            func status() throws -> OCSPAnswer.Status? {
                let answer = try Self.ask(stage, authority)
                return try? OCSPResponse.check(
                    answer.body, about: authority.leaf, issuedBy: authority.intermediate, at: now
                ).status
            }
            #expect(try status() == .good)
            try stage.store().answerAboutRevocation(.revoked, details: ["revokedAt": 1_700_000_000, "reason": 5])
            #expect(try status() == .revoked(at: 1_700_000_000, reason: .cessationOfOperation))
            try stage.store().answerAboutRevocation(.unknown)
            #expect(try status() == .unknown)
            try stage.store().answerAboutRevocation(.slow, details: ["milliseconds": 1])
            #expect(try status() == .good)
            for mode in [SimulatedResponder.Mode.stale, .wrongResponder, .unreachable] {
                try stage.store().answerAboutRevocation(mode)
                #expect(try status() == nil, "\(mode)")
            }
            #expect(try Self.ask(stage, authority).status == 503)
            #expect(throws: StoreError.self) {
                try stage.store().answerAboutRevocation(.good, about: "root")
            }
        }
    }

    @Test func `a simulator without an address makes certificates without one, and keeps them`() async throws {
        try await SimulatorStage.run { stage in
            let authority = try stage.authority()
            #expect(authority.leaf.ocspAddresses == [])
            #expect(try Self.ask(stage, authority).status == 200, "and refuses in the protocol's own words")
        }
    }
}
