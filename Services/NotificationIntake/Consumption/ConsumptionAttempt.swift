import AppStoreServerAPI

/// What came of telling Apple, as it is kept.
struct ConsumptionAttempt: Sendable, Equatable {
    /// Which attempt at this request, from 1.
    let number: Int64
    /// `accepted`, or the stable code of the error.
    let outcome: String
    /// Apple's status, where there was one.
    let status: Int64?
    /// Apple's number, where there was one.
    let code: Int64?

    /// An attempt and its result; nil: accepted.
    init(number: Int64, _ error: ServerAPIError?) {
        self.number = number
        outcome = error?.code ?? "accepted"
        switch error {
        case .refused(let status, let code): (self.status, self.code) = (Int64(status), code?.rawValue)
        case .unauthorized: (status, code) = (401, nil)
        // Ours or Apple's limit: which of them is not told apart.
        case nil: (status, code) = (202, nil)
        default: (status, code) = (nil, nil)
        }
    }
}
