import JSON

/// The numbers that the game knows answers by: `code` of `S2C_IAPVerify` and `S2C_IAPHistory`, `number` in JSON.
///
/// 0 is delivered, now or before. The tens tell what to do: 1x send it again later, 2x not for this user, 3x over, 4x no
/// proof of a purchase, 5x the question is wrong, 6x log in. Whether the purchase may be finished is said by each answer
/// (`finish`, `mayFinish`) and never guessed from the number. `docs/protocols/game/game-protocol.md` shows the same table;
/// a test compares the two.
enum GameCode {
    /// Delivered, now or before.
    static let delivered: Int32 = 0
    /// Something that has no number here: handled as its kind of answer says.
    static let other: Int32 = 99
    /// Genuine, but without a purchase of the product: an older or a newer receipt has it.
    static let notInReceipt: Int32 = 41
    /// The reason of that.
    private static let notInReceiptReason = "product_not_in_receipt"

    /// Numbers are never given again to something else.
    static let numbers: [ProblemCode: Int32] = [
        .purchasePending: 10, .serviceBusy: 11, .tooManyRequests: 12, .underReview: 13, .unknownAppleProductID: 14,
        .internalError: 15, .requestTimeout: 16,
        .transactionAlreadyBound: 20, .sandboxNotAllowed: 21, .appAccountTokenMismatch: 22,
        .appAccountTokenRequired: 23, .familySharedNotGranted: 24, .paymentStarterPackIneligible: 25, .alreadyOwned: 26,
        .transactionAlreadyRevoked: 30,
        .appleTransactionVerifyFailed: 40, .appleTransactionIDEmpty: 42, .appleProductIDEmpty: 43,
        .malformedRequest: 50, .payloadTooLarge: 51, .unsupportedMediaType: 52, .notFound: 53, .methodNotAllowed: 54,
        .upgradeRequired: 55,
        .unauthenticated: 60, .tokenExpired: 61, .wrongTokenKind: 62,
    ]

    /// The number of a problem.
    static func number(of problem: Problem) -> Int32 {
        if problem.code == .appleTransactionVerifyFailed,
            problem.members["reason"]?.stringValue == notInReceiptReason
        {
            return notInReceipt
        }
        return numbers[problem.code] ?? other
    }
}
