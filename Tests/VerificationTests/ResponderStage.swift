import AppStore
import AppStoreSimulation
import Crypto
import Dispatch
import HTTPServer
import JOSE
import Messages
import Observability
import Pipeline
import Postgres
import Synchronization
import TestSupport
import Trust

@testable import Verification

/// An authority whose certificates name a responder that runs here, on a port of its own.
final class ResponderStage: Sendable {
    let authority: SimulatedAuthority
    let responder: SimulatedResponder
    let port: UInt16
    private let server: HTTPServer
    /// How requests are answered instead, where a test wants something else than a responder.
    let instead = Mutex<HTTPResponse?>(nil)

    /// Seconds since 1970.
    static let now = World.now / 1_000

    private init(_ authority: SimulatedAuthority, _ responder: SimulatedResponder, _ server: HTTPServer) {
        self.authority = authority
        self.responder = responder
        self.server = server
        port = server.port
    }

    /// Where the current stage of a server is: the server is there before what it answers.
    private final class Slot: Sendable {
        let stage = Mutex<ResponderStage?>(nil)
    }

    /// Runs `body` on a thread of its own.
    static func run<R: Sendable>(_ body: @escaping @Sendable (ResponderStage) throws -> R) async throws -> R {
        try await onThread {
            let stage = try start()
            defer { stage.stop() }
            return try body(stage)
        }
    }

    /// Blocking.
    static func start() throws -> ResponderStage {
        let slot = Slot()
        let server = try HTTPServer.start(.init(), bodyLimit: { _, _ in 64 << 10 }) { request in
            guard let stage = slot.stage.withLock({ $0 }) else { return HTTPResponse(status: 500) }
            return await stage.answer(request.body)
        }
        let authority = try SimulatedAuthority.generate(ocspAddress: "http://127.0.0.1:\(server.port)/ocsp")
        let stage = ResponderStage(authority, try SimulatedResponder(authority), server)
        slot.stage.withLock { $0 = stage }
        return stage
    }

    func stop() { server.stop(grace: .zero) }

    private func answer(_ body: [UInt8]) async -> HTTPResponse {
        if let answer = instead.withLock({ $0 }) { return answer }
        switch responder.answer(body, now: Self.now) {
        case .unreachable: return HTTPResponse(status: 503, closesConnection: true)
        case .answer(let bytes, let milliseconds):
            if milliseconds > 0 {
                await withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
                    DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(Int(milliseconds))) {
                        continuation.resume()
                    }
                }
            }
            return HTTPResponse(status: 200, body: bytes)
        }
    }

    // MARK: - Who asks

    /// May ask this responder, which is on this machine.
    var asker: RevocationAsker {
        RevocationAsker(
            ResponderSettings(
                hosts: ["ocsp.apple.com"], privateHosts: ["127.0.0.1:\(port)"], timeout: .milliseconds(1_500)))
    }

    /// The handler as the service makes it, with a clock that stands still unless told otherwise.
    func handler(
        policy: RevocationPolicy = .background, metrics: Metrics = Metrics(), logger: Logger = .silent,
        asker: RevocationAsker? = nil, now: @escaping @Sendable () -> Int64 = { World.now }
    ) throws -> CheckChains {
        try CheckChains(
            roots: [authority.root], asker: asker ?? self.asker, policy: policy, metrics: metrics, logger: logger,
            now: now)
    }

    /// The chain that signs.
    var chain: SignerChain { SignerChain(leaf: authority.leaf, intermediate: authority.intermediate) }

    /// The request for a check of it.
    var request: ChainCheckRequested {
        ChainCheckRequested(
            leaf: Base64.encode(authority.leaf.der), intermediate: Base64.encode(authority.intermediate.der))
    }

    /// The same as a lane hands it over.
    func incoming(
        id: MessageID = MessageID(UUIDText.random()), attempt: Int = 0, isRedelivered: Bool = false,
        _ request: ChainCheckRequested? = nil
    ) throws -> Incoming {
        let header = MessageHeader(
            id: id, type: .chainCheckRequested, version: 1, occurredAt: World.now, correlationID: "correlation",
            attempt: attempt)
        return Incoming(
            header: header, body: try MessageCoding.encode(request ?? self.request), isRedelivered: isRedelivered)
    }

    /// The production verifier for this authority.
    func verifier() throws -> SignedDataVerifier {
        try SignedDataVerifier(apps: World.apps, roots: [authority.root])
    }

    /// A signed transaction of this authority.
    func sign(_ id: String, signedDate: Int64 = World.now - 1_000) throws -> String {
        var transaction = World.transaction(id)
        transaction.signedDate = signedDate
        return String(decoding: try TransactionSigner(authority).sign(transaction), as: UTF8.self)
    }
}

extension VerificationDatabase {
    /// One batch of a handler in one transaction, as the service's role.
    func run(_ handler: any Handler, _ batch: [Incoming]) throws -> [Outcome] {
        var handler = handler
        var connection = try database.open(role: "purser_verification", parameters: Connection.plansByIndex)
        return try connection.transaction { try handler.handle(batch, in: &$0) }
    }

    /// What is known about a chain.
    func state(of chain: SignerChain) throws -> ChainState? {
        var connection = try database.open(role: "purser_verification")
        return try connection.transaction {
            try ChainTable(schema: "verification").states(of: [chain.id], in: &$0)[chain.id]
        }
    }
}

extension Outcome {
    /// Facts of a message that was handled, or goes round.
    var allFacts: [Fact] {
        switch self {
        case .done(let facts, _), .retry(_, _, _, _, let facts): facts
        case .park: []
        }
    }

    /// Why it goes round without limit; nil if it does not.
    var outageReason: String? {
        if case .retry(_, let reason, true, _, _) = self { reason } else { nil }
    }

    /// What was said about a chain.
    var checked: ChainChecked? {
        allFacts.lazy.filter { $0.type == .chainChecked }
            .compactMap { try? MessageCoding.decode(ChainChecked.self, from: $0.body) }.first
    }
}
