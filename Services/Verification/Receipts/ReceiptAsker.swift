import AppStore
import HTTPClient
import JOSE
import JSON
import LegacyReceipts
import Observability

/// Asks Apple's `verifyReceipt` about one receipt. Blocks its thread for at most twice the time of the settings.
struct ReceiptAsker: Sendable {
    private let settings: VerifyReceiptSettings

    init(_ settings: VerifyReceiptSettings) { self.settings = settings }

    /// What Apple says: first `first`, then the other environment if it is named, and never a third time.
    ///
    /// - Parameters:
    ///   - attempt: earlier attempts.
    ///   - hop: called before the other environment is asked, with the status that named it.
    func ask(
        about container: [UInt8], secret: Secret?, first: AppStoreEnvironment, attempt: Int,
        hop: (_ status: Int64, _ to: AppStoreEnvironment) -> Void = { _, _ in }
    ) -> ReceiptFinding {
        let question = Self.question(container, secret)
        do throws(ReceiptFinding.Trouble) {
            var place = first
            var (answer, body) = try post(question, to: place)
            let other: AppStoreEnvironment = place == .production ? .sandbox : .production
            if answer.status == (place == .production ? 21_007 : 21_008) {
                hop(answer.status, other)
                place = other
                (answer, body) = try post(question, to: place)
            }
            switch answer.status {
            // 21006: genuine, and a subscription in it has ended, which is for Granting to see.
            case 0, 21_006:
                // Each address knows its own receipts only; whoever mixes them up must not decide what is real money.
                guard answer.environment == place.rawValue else {
                    throw .unreadable("asked as \(place.rawValue), the answer names another environment")
                }
                return .answered(answer, body: body, by: place)
            default:
                return ReceiptFinding(status: answer.status, isRetryable: answer.isRetryable, attempt: attempt)
            }
        } catch {
            return .open(error)
        }
    }

    private static func question(_ container: [UInt8], _ secret: Secret?) -> [UInt8] {
        var question: JSONObject = [
            "receipt-data": .string(Base64.encode(container)), "exclude-old-transactions": true,
        ]
        if let secret { question.set("password", .string(secret.reveal())) }
        return JSONWriter.write(question)
    }

    private func post(
        _ question: [UInt8], to environment: AppStoreEnvironment
    ) throws(ReceiptFinding.Trouble) -> (ReceiptAnswer, [UInt8]) {
        var configuration = HTTPClient.Configuration()
        configuration.connectTimeout = settings.timeout
        configuration.timeout = settings.timeout
        configuration.maximumResponseBytes = ReceiptAnswer.maximumBytes
        configuration.proxy = settings.proxy
        let answer: HTTPClientResponse
        do throws(HTTPClientError) {
            var client = try HTTPClient.open(configuration)
            answer = try client.send(
                HTTPClientRequest(
                    "POST", settings.address(of: environment), headers: [("Content-Type", "application/json")],
                    body: question))
        } catch {
            throw ReceiptFinding.Trouble(error)
        }
        // Redirects are not followed: nobody but the address of the settings sees the secret.
        guard answer.status == 200 else {
            throw ReceiptFinding.Trouble("http_status", "HTTP status \(answer.status)", isOutage: true)
        }
        do {
            return (try ReceiptAnswer(answer.body), answer.body)
        } catch {
            throw .unreadable(error.detail)
        }
    }
}
