import AppStore
import HTTPClient
import LegacyReceipts
import Messages

/// What asking Apple about a receipt came to.
enum ReceiptFinding: Sendable {
    /// Apple knows the receipt: its words, as they are and as they are read, and where they were spoken.
    case answered(ReceiptAnswer, body: [UInt8], by: AppStoreEnvironment)
    /// Apple refuses it for good.
    case refused(reason: String, SecurityEvent?)
    /// Nothing can be said yet.
    case open(Trouble)

    /// Why nothing can be said.
    struct Trouble: Error, Sendable, Equatable {
        /// A stable name: of the metric, and told to the caller.
        let name: String
        /// For the log.
        let detail: String
        /// Whether it ends by itself, or by an operator: then the message goes round without limit. Otherwise it is
        /// parked in the end.
        let isOutage: Bool
        /// Whether an operator has to do something.
        let isAlarm: Bool
        /// Apple's number, if it was one that says nothing about the receipt.
        let status: Int64?

        init(_ name: String, _ detail: String, isOutage: Bool, isAlarm: Bool = false, status: Int64? = nil) {
            self.name = name
            self.detail = detail
            self.isOutage = isOutage
            self.isAlarm = isAlarm
            self.status = status
        }

        /// No answer came.
        init(_ error: HTTPClientError) {
            let name =
                switch error {
                case .timeout: "timeout"
                case .responseTooLarge: "too_large"
                default: "unreachable"
                }
            self.init(name, "\(error)", isOutage: name != "too_large")
        }

        /// An answer that is none of Apple's: another server's page, half an answer.
        static func unreadable(_ detail: String) -> Trouble { Trouble("unreadable", detail, isOutage: false) }
    }

    /// Attempts for what Apple calls a receipt it cannot read "or a temporary fault": the first, and three of the ladder.
    static let malformedAttempts = 4

    /// What a status other than 0 and the two that name the other environment means.
    ///
    /// Source: developer.apple.com/documentation/appstorereceipts/status.
    ///
    /// - Parameter attempt: earlier attempts.
    init(status: Int64, isRetryable: Bool, attempt: Int) {
        let name = "apple_\(status)"
        func open(_ detail: String, isOutage: Bool = true, isAlarm: Bool = false) -> ReceiptFinding {
            .open(Trouble(name, detail, isOutage: isOutage, isAlarm: isAlarm, status: status))
        }
        switch status {
        case 21_002 where attempt < Self.malformedAttempts - 1:
            self = open("Apple cannot read it, or has a fault")
        case 21_002, 21_003: self = .refused(reason: name, .forgedEvidence)
        // The account is gone; or the question was wrong, which no repetition mends.
        case 21_000, 21_001, 21_010: self = .refused(reason: name, nil)
        case 21_004:
            self = open("the app's shared secret is not Apple's: see verifyReceipt in its file", isAlarm: true)
        case 21_005, 21_009, 21_100...21_199: self = open("Apple's server has a fault")
        // The two environments name each other, or an address of the settings is the other one's.
        case 21_007, 21_008: self = open("each environment says that it is the other's", isOutage: false, isAlarm: true)
        default: self = open("a status that nobody has documented", isOutage: isRetryable)
        }
    }
}
