import AppStore
import AppStoreSimulation
import Crypto
import HTTPServer
import Observability
import Synchronization
import TestSupport
import Testing

@testable import Verification

/// Whom the service asks, whom it never does, and what it makes of bad answers.
@Suite(.timeLimit(.minutes(5))) struct RevocationAskerTests {
    private static func ask(
        _ stage: ResponderStage, _ asker: RevocationAsker? = nil, notBefore: Int64 = 0
    ) -> Result<OCSPAnswer, CheckTrouble> {
        do throws(CheckTrouble) {
            return .success(
                try (asker ?? stage.asker).ask(
                    about: stage.authority.leaf, issuedBy: stage.authority.intermediate, notBefore: notBefore,
                    at: ResponderStage.now))
        } catch {
            return .failure(error)
        }
    }

    private static func trouble(_ result: Result<OCSPAnswer, CheckTrouble>) -> String? {
        if case .failure(let trouble) = result { trouble.name } else { nil }
    }

    @Test(
        arguments: [
            (SimulatedResponder.Mode.good, nil), (.revoked, nil), (.unknown, nil), (.stale, "stale"),
            (.wrongResponder, "responder_not_authorized"), (.unreachable, "http_status"), (.slow, "timeout"),
        ] as [(SimulatedResponder.Mode, String?)])
    func `each way of answering is told apart (S14)`(mode: SimulatedResponder.Mode, name: String?) async throws {
        try await ResponderStage.run { stage in
            stage.responder.set(.init(mode, revokedAt: 1_700_000_000, reason: 4))
            let result = Self.ask(stage)
            #expect(Self.trouble(result) == name)
            if mode == .revoked {
                #expect((try? result.get())?.status == .revoked(at: 1_700_000_000, reason: .superseded))
            }
        }
    }

    @Test func `an answer from before one that is known is not taken (S14)`() async throws {
        try await ResponderStage.run { stage in
            #expect(Self.trouble(Self.ask(stage, notBefore: ResponderStage.now)) == nil)
            #expect(Self.trouble(Self.ask(stage, notBefore: ResponderStage.now + 1)) == "older")
        }
    }

    @Test(arguments: [
        ("redirect", "http_status"), ("huge", "too_large"), ("html", "malformed"), ("empty", "malformed"),
        ("created", "http_status"),
    ])
    func `redirects are not followed, megabytes not read, pages not believed (S14)`(kind: String, name: String)
        async throws
    {
        try await ResponderStage.run { stage in
            stage.instead.withLock {
                $0 =
                    switch kind {
                    case "redirect":
                        HTTPResponse(status: 302, headers: [("Location", "http://169.254.169.254/latest/meta-data")])
                    case "huge": HTTPResponse(status: 200, body: [UInt8](repeating: 0x30, count: 1 << 20))
                    case "html": HTTPResponse(status: 200, body: Array("<html>Sorry</html>".utf8))
                    case "empty": HTTPResponse(status: 200)
                    default: HTTPResponse(status: 201)
                    }
            }
            #expect(Self.trouble(Self.ask(stage)) == name)
        }
    }

    /// What could stand in a certificate, and what may be asked then: nothing.
    static let hostile = [
        "http://127.0.0.1:5432/", "http://localhost/", "http://169.254.169.254/latest/meta-data", "http://[::1]/",
        "http://10.0.0.1/", "http://evil.example/", "http://ocsp.apple.com@127.0.0.1/", "file:///etc/passwd",
        "gopher://127.0.0.1/", "http://ocsp.apple.com.evil.example/", "http://ocsp.apple.com:5672/",
    ]

    @Test(arguments: hostile) func `a host that is not listed is never asked, whatever a certificate says (S15)`(
        address: String
    ) throws {
        let authority = try SimulatedAuthority.generate(ocspAddress: address)
        let asker = RevocationAsker(ResponderSettings(hosts: ["ocsp.apple.com"]))
        #expect(throws: CheckTrouble.addressRefused) {
            try asker.ask(
                about: authority.leaf, issuedBy: authority.intermediate, notBefore: 0, at: ResponderStage.now)
        }
    }

    @Test func `a listed host that stands for an address within this machine is not asked either (S15)`() async throws {
        try await ResponderStage.run { stage in
            let asker = RevocationAsker(ResponderSettings(hosts: ["127.0.0.1:\(stage.port)"]))
            #expect(Self.trouble(Self.ask(stage, asker)) == "address_refused")
            #expect(stage.responder.timesAsked == 0)
        }
    }

    @Test func `a certificate that names nobody cannot be asked about`() async throws {
        let authority = try SimulatedAuthority.generate()
        #expect(throws: CheckTrouble.noAddress) {
            try RevocationAsker(ResponderSettings(hosts: [])).ask(
                about: authority.leaf, issuedBy: authority.intermediate, notBefore: 0, at: 0)
        }
    }

    @Test func `nobody listening is an outage`() async throws {
        let stage = try await onThread {
            let stage = try ResponderStage.start()
            stage.stop()
            return stage
        }
        try await onThread { #expect(Self.trouble(Self.ask(stage)) == "unreachable") }
    }
}
