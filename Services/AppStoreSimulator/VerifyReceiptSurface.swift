import AppStoreSimulation
import Crypto
import Dispatch
import HTTPServer
import JOSE
import JSON
import LegacyReceipts
import Observability

/// Apple's `verifyReceipt`: `/verifyReceipt` for Production, `/sandbox/verifyReceipt` for the sandbox.
///
/// It knows every receipt that its own authority has signed, also one that is signed twice (``DoubledSigner``). Source:
/// https://developer.apple.com/documentation/appstorereceipts/verifyreceipt.
struct VerifyReceiptSurface: Sendable {
    /// Bytes of a question: a receipt of 1 MiB in base64, and the little around it.
    static let longestBody = ReceiptText.maximumCharacters + 4_096
    private static let production = "/verifyReceipt"
    private static let sandbox = "/sandbox/verifyReceipt"

    /// What is planned to go wrong.
    let faults: VerifyReceiptFaults
    private let verifier: ReceiptVerifier
    private let logger: Logger

    init(root: Certificate, logger: Logger) throws {
        faults = VerifyReceiptFaults()
        verifier = try ReceiptVerifier(apps: [], roots: [root])
        self.logger = logger
    }

    /// Whether a path is one of the two.
    static func isAddress(_ path: String) -> Bool { path == production || path == sandbox }

    /// Answers a request; nil if its path is none of Apple's.
    func answer(_ request: HTTPRequest) async -> HTTPResponse? {
        guard Self.isAddress(request.path) else { return nil }
        let environment = request.path == Self.production ? "Production" : "Sandbox"
        let fault = faults.take(environment)
        switch fault?.mode {
        case .status: return Self.json(["status": .integer(fault?.status ?? 0)])
        case .unreachable: return HTTPResponse(status: 503, closesConnection: true)
        case .empty: return HTTPResponse(status: 200)
        case .notJSON:
            return HTTPResponse(
                status: 200, headers: [("Content-Type", "text/html")], body: Array("<html>Sorry</html>".utf8))
        case .slow: await Self.wait(fault?.milliseconds ?? 0)
        case .truncated, nil: break
        }
        let body = answer(request, environment)
        let status = Int(body["status"]?.intValue ?? 0)
        logger.debug("verifyReceipt", ["store.environment": .string(environment), "status": .int(status)])
        var answer = Self.json(body)
        if fault?.mode == .truncated { answer.body = Array(answer.body.prefix(answer.body.count / 2)) }
        return answer
    }

    private func answer(_ request: HTTPRequest, _ environment: String) -> JSONObject {
        guard request.method == "POST" else { return ["status": 21_000] }
        guard let question = try? JSONReader.parseObject(request.body),
            let text = question["receipt-data"]?.stringValue, let sent = Base64.decode(text),
            ReceiptText.isSignedData(sent)
        else { return ["status": 21_002] }
        let bytes = DoubledSigner.single(sent) ?? sent
        guard let receipt = try? verifier.authenticate(bytes, now: WallClock.milliseconds()).receipt else {
            return ["status": 21_003]
        }
        let simulated = SimulatedReceipt(receipt)
        guard simulated.environment == environment else {
            return ["status": environment == "Production" ? 21_007 : 21_008]
        }
        return simulated.answer
    }

    private static func wait(_ milliseconds: Int64) async {
        await withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
            DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(Int(milliseconds))) {
                continuation.resume()
            }
        }
    }

    private static func json(_ body: JSONObject) -> HTTPResponse {
        HTTPResponse(status: 200, headers: [("Content-Type", "application/json")], body: JSONWriter.write(body))
    }
}

extension SimulatedReceipt {
    /// A receipt that was read.
    fileprivate init(_ receipt: AppReceipt) {
        self.init(
            bundleID: receipt.bundleID, creationDate: receipt.creationDate,
            purchases: receipt.purchases.map {
                Purchase(
                    transactionID: $0.transactionID, productID: $0.productID, purchaseDate: $0.purchaseDate,
                    originalTransactionID: $0.originalTransactionID, quantity: $0.quantity,
                    expiresDate: $0.expiresDate, cancellationDate: $0.cancellationDate)
            }, receiptType: receipt.receiptType)
        appItemID = receipt.appItemID ?? 0
    }
}
