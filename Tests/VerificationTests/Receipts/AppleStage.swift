import AppStoreSimulation
import HTTPServer
import JOSE
import JSON
import LegacyReceipts
import Messages
import Observability
import Pipeline
import Synchronization
import TestSupport
import Trust

@testable import Verification

/// Apple's `verifyReceipt` at two addresses, answering as a test wants, and what it was asked.
final class AppleStage: Sendable {
    /// What was asked.
    struct Question: Sendable {
        let path: String
        let body: JSONObject
    }

    private struct State {
        var answers: [String: [HTTPResponse]] = [:]
        var questions: [Question] = []
    }

    private final class Inbox: Sendable {
        let state = Mutex(State())
    }

    private let server: HTTPServer
    private let inbox: Inbox

    private init(_ server: HTTPServer, _ inbox: Inbox) {
        self.server = server
        self.inbox = inbox
    }

    static func start() throws -> AppleStage {
        let inbox = Inbox()
        let server = try HTTPServer.start(.init(), bodyLimit: { _, _ in 2 << 20 }) { request in
            let body = try? JSONReader.parseObject(request.body)
            let answer = inbox.state.withLock { state -> HTTPResponse? in
                state.questions.append(Question(path: request.path, body: body ?? [:]))
                guard let answers = state.answers[request.path], let first = answers.first else { return nil }
                // The last one stays.
                if answers.count > 1 { state.answers[request.path] = Array(answers.dropFirst()) }
                return first
            }
            guard let answer else { return HTTPResponse(status: 500) }
            if answer.status == 599 {
                return await withUnsafeContinuation { (_: UnsafeContinuation<HTTPResponse, Never>) in }
            }
            return answer
        }
        return AppleStage(server, inbox)
    }

    /// Runs `body` on a thread of its own.
    static func run<R: Sendable>(_ body: @escaping @Sendable (AppleStage) throws -> R) async throws -> R {
        try await onThread {
            let stage = try start()
            defer { stage.stop() }
            return try body(stage)
        }
    }

    func stop() { server.stop(grace: .zero) }

    /// Never answers.
    static let silence = HTTPResponse(status: 599)

    /// A success with this body.
    static func json(_ object: JSONObject) -> HTTPResponse {
        HTTPResponse(status: 200, headers: [("Content-Type", "application/json")], body: JSONWriter.write(object))
    }

    /// Only a status.
    static func status(_ status: Int64) -> HTTPResponse { json(["status": .integer(status)]) }

    /// The next answers of an address (`production` or `sandbox`); the last one stays.
    func answer(_ place: String, _ answers: HTTPResponse...) {
        inbox.state.withLock { $0.answers["/" + place] = answers }
    }

    /// What was asked so far: the paths without their slash.
    var asked: [String] { questions.map { String($0.path.dropFirst()) } }
    var questions: [Question] { inbox.state.withLock { $0.questions } }

    /// Where it is.
    func settings(
        mode: VerifyReceiptSettings.Mode = .fallback, timeout: Duration = .seconds(4)
    ) -> VerifyReceiptSettings {
        let base = "http://127.0.0.1:\(server.port)"
        return VerifyReceiptSettings(
            mode: mode, production: base + "/production", sandbox: base + "/sandbox", timeout: timeout)
    }

    /// The handler as the service makes it, with a clock that stands still.
    func handler(
        mode: VerifyReceiptSettings.Mode = .fallback, secrets: ReceiptSecrets = ReceiptSecrets(),
        metrics: Metrics = Metrics(), logger: Logger = .silent, timeout: Duration = .seconds(4)
    ) throws -> CheckReceipts {
        CheckReceipts(
            receipts: try World().receiptVerifier(), settings: settings(mode: mode, timeout: timeout),
            secrets: secrets, apps: World.apps, metrics: metrics, logger: logger, now: { World.now })
    }
}

/// Receipts that cannot be judged here, and what is done with them.
enum OpenReceipt {
    static let product = "com.example.game.gems"

    /// A receipt of the game.
    static func receipt(
        _ ids: [String] = ["1"], bundleID: String = World.gameBundle, type: String = "ProductionSandbox",
        _ change: (inout SimulatedReceipt) -> Void = { _ in }
    ) -> SimulatedReceipt {
        var receipt = SimulatedReceipt(
            bundleID: bundleID, creationDate: World.now - 1_000,
            purchases: ids.map {
                SimulatedReceipt.Purchase(transactionID: $0, productID: product, purchaseDate: World.now - 60_000)
            }, receiptType: type)
        change(&receipt)
        return receipt
    }

    /// Its bytes, signed twice, which the reader here does not know.
    static func container(_ receipt: SimulatedReceipt = receipt()) throws -> [UInt8] {
        let authority = try World.receipts.get()
        return DoubledSigner.doubled(try ReceiptSigner(authority).sign(receipt)) ?? []
    }

    /// It, handed in by a client.
    static func submitted(_ container: [UInt8], product: String = product) -> PurchaseSubmitted {
        PurchaseSubmitted(
            app: World.game, userID: UserID("alice"), receipt: Base64.encode(container), productID: ProductID(product))
    }

    /// The same as a lane hands it over.
    static func incoming(_ container: [UInt8], product: String = product) throws -> Incoming {
        let header = MessageHeader(
            id: MessageID(UUIDText.random()), type: .purchaseSubmitted, version: 1, occurredAt: World.now,
            correlationID: "correlation", replyTo: "gateway")
        return Incoming(
            header: header, body: try MessageCoding.encode(submitted(container, product: product)), isRedelivered: false
        )
    }
}

extension VerificationDatabase {
    /// Hands in a receipt that cannot be judged; the message that asks for Apple's word.
    func open(_ container: [UInt8], product: String = OpenReceipt.product, attempt: Int = 0) throws -> Incoming {
        let incoming = try OpenReceipt.incoming(container, product: product)
        let handler = VerifyPurchases(
            verifier: try World().verifier(), receipts: try World().receiptVerifier(), metrics: Metrics(),
            logger: .silent, revocation: .off, canAskApple: true, now: { World.now })
        let outcome = try run(handler, [incoming])[0]
        guard let fact = outcome.facts.first, fact.type == .receiptCheckRequested, outcome.facts.count == 1 else {
            throw NobodyIsAsked(instead: "\(outcome)")
        }
        return Self.again(fact, attempt: attempt)
    }

    /// A receipt was judged that should not have been.
    struct NobodyIsAsked: Error { let instead: String }

    /// A fact as the lane on the other side of the broker gets it.
    static func again(_ fact: Fact, attempt: Int) -> Incoming {
        let header = MessageHeader(
            id: fact.id, type: fact.type, version: fact.version, occurredAt: fact.occurredAt,
            correlationID: fact.correlationID, replyTo: "gateway", attempt: attempt)
        return Incoming(header: header, body: fact.body, isRedelivered: attempt > 0)
    }
}
