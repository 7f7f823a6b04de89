import Messages
import Observability
import Pipeline

/// Hands in purchases for every surface: asks, and logs what document C asks to be logged (C-110, C-111, C-114).
///
/// Only what cannot hold anything else is logged of what a client wrote: see ``LoggedText``.
struct PurchaseDesk: Sendable {
    private let asker: any Asker
    private let security: SecurityLog
    private var logger: Logger { security.logger }

    /// A desk that asks `asker`, and tells `security` of attempts on somebody else's purchase.
    init(asker: any Asker, security: SecurityLog) {
        self.asker = asker
        self.security = security
    }

    /// The answer to a purchase, or why there is none.
    func submit(_ question: PurchaseSubmitted, for call: Call) async throws(Problem) -> PurchaseAnswered {
        let fields = Self.fields(question, call)
        logger.purchase(.verifyRequest, fields)
        let start = ContinuousClock.now
        do throws(Problem) {
            let answer = try await asker.ask(question, for: call, about: .purchase, expecting: PurchaseAnswered.self)
            if let event = answer.securityEvent { security.record(event, call) }
            tell(Self.status(of: answer), fields.merging(Self.fields(answer)) { $1 }, since: start)
            if answer.status == .alreadyGranted {
                logger.purchase(.duplicateRequest, fields.merging(Self.fields(answer)) { $1 })
            }
            return answer
        } catch {
            tell(error.code.rawValue, fields, since: start)
            throw error
        }
    }

    private func tell(_ status: String, _ fields: [String: LogValue], since start: ContinuousClock.Instant) {
        let result: [String: LogValue] = [
            "status": .string(status), "latency.ms": .duration(ContinuousClock.now - start),
        ]
        logger.purchase(.verifyResult, fields.merging(result) { $1 })
    }

    private static func status(of answer: PurchaseAnswered) -> String {
        answer.code?.rawValue ?? answer.status.rawValue.uppercased()
    }

    private static func fields(_ question: PurchaseSubmitted, _ call: Call) -> [String: LogValue] {
        var fields: [String: LogValue] = [
            "app": .string(call.app.id.rawValue), "correlation.id": .string(call.correlationID),
            "user.id": .string(LoggedText.user(call.userID)),
        ]
        let product = question.expectation?.productID ?? question.productID
        if let text = product.flatMap({ LoggedText.product($0.rawValue) }) { fields["product.id"] = .string(text) }
        let transaction = question.expectation?.transactionID
        if let text = transaction.flatMap({ LoggedText.number($0.rawValue) }) {
            fields["transaction.id"] = .string(text)
        }
        return fields
    }

    /// What Apple signed, where the answer tells it.
    private static func fields(_ answer: PurchaseAnswered) -> [String: LogValue] {
        var fields: [String: LogValue] = [:]
        if let product = answer.productID { fields["product.id"] = .string(product.rawValue) }
        if let transaction = answer.transactionID { fields["transaction.id"] = .string(transaction.rawValue) }
        return fields
    }
}
