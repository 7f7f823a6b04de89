import JSON
import Messages

/// Which of document B's codes stands for a problem.
enum PaymentProblem {
    /// The code, or the problem's own where the documents of all surfaces agree.
    static func code(for problem: Problem) -> ProblemCode {
        switch problem.code {
        case .unknownAppleProductID: .paymentProductNotFound
        case .appleTransactionVerifyFailed, .appleTransactionIDEmpty, .appleProductIDEmpty: .paymentTransactionInvalid
        case .transactionAlreadyRevoked: .paymentTransactionRevoked
        // A token of somebody else, or none where the app asks for one: whose the purchase is, is in conflict.
        case .transactionAlreadyBound, .appAccountTokenMismatch, .appAccountTokenRequired, .familySharedNotGranted:
            .paymentTransactionConflict
        case .sandboxNotAllowed: .paymentSandboxNotAllowed
        case .purchasePending: isApples(problem) ? .paymentAppleUnavailable : .paymentPending
        // Genuine, but delivering it failed for good: it is kept, and a person has to look.
        case .underReview: .paymentGrantFailed
        case .transactionNotFound: .paymentTransactionNotFound
        default: problem.code
        }
    }

    /// Whether the purchase waits for something of Apple's: the revocation of a certificate could not be looked up.
    private static func isApples(_ problem: Problem) -> Bool {
        problem.members["reason"]?.stringValue?.contains("revocation") ?? false
    }
}
