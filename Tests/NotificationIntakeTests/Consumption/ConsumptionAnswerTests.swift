import AppStoreServerAPI
import HTTPClient
import JSON
import Messages
import Testing

@testable import NotificationIntake

/// What is made of an assessment, and of what Apple answers.
@Suite struct ConsumptionAnswerTests {
    static func assessed(_ change: (inout ConsumptionAssessed) -> Void = { _ in }) -> ConsumptionAssessed {
        var assessed = ConsumptionAssessed(isAnswered: true)
        assessed.isOwned = true
        assessed.hasConsented = true
        assessed.isDelivered = true
        assessed.productType = "Consumable"
        assessed.consumedShare = 33_333
        assessed.appAccountToken = "550e8400-e29b-41d4-a716-446655440000"
        change(&assessed)
        return assessed
    }

    @Test func `without policy, owner or consent there is nothing to send (A-116)`() {
        for missing in [\ConsumptionAssessed.isAnswered, \.isOwned, \.hasConsented] {
            let silent = Self.assessed { $0[keyPath: missing] = false }
            #expect(ConsumptionAnswer(silent, isAdvancedCommerce: false) == nil)
            #expect(ConsumptionAnswer(silent, isAdvancedCommerce: true) == nil)
        }
    }

    /// A change of the assessment, and the body that Apple is sent.
    private struct Body: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let json: String
        let change: @Sendable (inout ConsumptionAssessed) -> Void
    }

    private static let bodies = [
        Body(
            testDescription: "a third used",
            json: #"{"customerConsented":true,"sampleContentProvided":false,"deliveryStatus":"DELIVERED","#
                + #""consumptionPercentage":33333}"#
        ) { _ in },
        Body(
            testDescription: "with the app's preference and a sample",
            json: #"{"customerConsented":true,"sampleContentProvided":true,"deliveryStatus":"DELIVERED","#
                + #""consumptionPercentage":33333,"refundPreference":"GRANT_PRORATED"}"#
        ) { ($0.preference, $0.isSampleProvided) = (.grantProrated, true) },
        Body(
            testDescription: "a share that cannot be prorated says less",
            json: #"{"customerConsented":true,"sampleContentProvided":false,"deliveryStatus":"DELIVERED","#
                + #""consumptionPercentage":0}"#
        ) { ($0.preference, $0.consumedShare) = (.grantProrated, 0) },
        Body(
            testDescription: "not delivered",
            json: #"{"customerConsented":true,"sampleContentProvided":false,"deliveryStatus":"UNDELIVERED_OTHER","#
                + #""consumptionPercentage":0,"refundPreference":"GRANT_FULL"}"#
        ) { ($0.preference, $0.consumedShare, $0.isDelivered) = (.grantFull, 0, false) },
        Body(
            testDescription: "a subscription, whose use is not told",
            json: #"{"customerConsented":true,"sampleContentProvided":false,"deliveryStatus":"DELIVERED","#
                + #""refundPreference":"DECLINE"}"#
        ) { ($0.preference, $0.consumedShare) = (.decline, nil) },
    ]

    @Test(arguments: bodies) private func `Apple is told what the books say, and nothing else`(body: Body) throws {
        let answer = try #require(ConsumptionAnswer(Self.assessed(body.change), isAdvancedCommerce: false))
        #expect(answer.version == "v2")
        #expect(String(decoding: JSONWriter.write(answer.json), as: UTF8.self) == body.json)
    }

    /// Shares and preferences, and the numbers of the older form.
    private static let olders: [(share: Int64?, preference: RefundPreference?, status: Int64, told: Int64)] = [
        (nil, nil, 0, 0), (0, .grantFull, 1, 1), (1, .grantProrated, 2, 1), (99_999, .decline, 2, 2),
        (100_000, .decline, 3, 2),
    ]

    @Test(arguments: olders.indices) func `purchases of Advanced Commerce are told of in the older form`(place: Int)
        throws
    {
        let row = Self.olders[place]
        let assessed = Self.assessed { ($0.consumedShare, $0.preference) = (row.share, row.preference) }
        let answer = try #require(ConsumptionAnswer(assessed, isAdvancedCommerce: true))
        #expect(answer.version == "v1")
        let body = answer.json
        #expect(body["consumptionStatus"]?.intValue == row.status && body["refundPreference"]?.intValue == row.told)
        #expect(body["customerConsented"] == true && body["deliveryStatus"]?.intValue == 0)
        #expect(body["appAccountToken"]?.stringValue == assessed.appAccountToken)
        #expect(body["accountTenure"]?.intValue == 0 && body["lifetimeDollarsPurchased"]?.intValue == 0)
    }

    @Test func `brackets of dollars are Apple's; what is not known is not declared`() {
        let table: [(Int64?, Int64)] = [
            (nil, 0), (0, 1), (1, 2), (49_990, 2), (50_000, 3), (99_990, 3), (100_000, 4), (499_990, 4), (500_000, 5),
            (999_990, 5), (1_000_000, 6), (1_999_990, 6), (2_000_000, 7), (.max, 7),
        ]
        for (dollars, bracket) in table { #expect(ConsumptionAnswer.bracket(dollars) == bracket, "\(dollars ?? -1)") }
    }

    /// Every number of Apple's that is tried again; all others of the table are final.
    private static let retried: Set<Int64> = [4_040_002, 4_040_004, 4_040_006, 4_290_000, 5_000_000, 5_000_001]

    @Test(arguments: ServerAPIErrorCodeTable.all)
    func `every number of Apple's is tried again or final, as documented (A-116)`(number: Int64) {
        let error = ServerAPIError.refused(status: Int(number / 10_000), code: ServerAPIErrorCode(rawValue: number))
        let verdict = ConsumptionVerdict(error)
        if Self.retried.contains(number) {
            #expect(verdict == .later(.unavailable, pause: 0, concernsApp: false))
        } else {
            #expect(verdict == .refused)
        }
        let attempt = ConsumptionAttempt(number: 1, error)
        #expect(attempt.code == number && attempt.outcome == "server_api.refused")
    }

    /// What is no number of Apple's.
    private static let errors: [(error: ServerAPIError, verdict: ConsumptionVerdict)] = [
        (.unauthorized, .later(.unauthorized, pause: 30_000, concernsApp: true)),
        (.authorizationPaused(milliseconds: 7), .later(.unauthorized, pause: 7, concernsApp: true)),
        (.rateLimited(milliseconds: 9_000), .later(.rateLimited, pause: 9_000, concernsApp: true)),
        (.unreadable("json.truncated"), .later(.unavailable, pause: 0, concernsApp: false)),
        (.transport(.timeout), .later(.unavailable, pause: 0, concernsApp: false)),
        (.refused(status: 503, code: nil), .later(.unavailable, pause: 0, concernsApp: false)),
        // A proxy's page, not Apple's word.
        (.refused(status: 403, code: nil), .later(.unavailable, pause: 0, concernsApp: false)),
        (.unusableKey, .later(.noKey, pause: 0, concernsApp: false)), (.invalidArgument("transaction id"), .refused),
    ]

    @Test(arguments: errors.indices) func `without a number of Apple's nothing is final`(place: Int) {
        #expect(ConsumptionVerdict(Self.errors[place].error) == Self.errors[place].verdict)
    }
}

/// The numbers of Apple's errors that may meet any call (App Store Server API, error codes), and one from tomorrow.
enum ServerAPIErrorCodeTable {
    static let all: [Int64] =
        [4_000_000, 4_000_002, 4_000_005, 4_000_006, 4_000_008, 4_000_048] + Array(4_000_009...4_000_028)
        + Array(4_000_030...4_000_043)
        + [
            4_000_044, 4_000_047, 4_000_161, 4_000_162, 4_000_163, 4_000_164, 4_000_175, 4_000_183, 4_000_185,
            4_000_187,
            4_000_209, 4_000_211, 4_000_212, 4_000_213, 4_000_215, 4_000_216, 4_000_218, 4_000_219, 4_000_224,
            4_000_999,
            4_030_004, 4_030_005, 4_030_007, 4_030_014, 4_030_016, 4_030_017, 4_030_018, 4_030_019, 4_030_026,
            4_040_001,
            4_040_002, 4_040_003, 4_040_004, 4_040_005, 4_040_006, 4_040_007, 4_040_008, 4_040_009, 4_040_010,
            4_040_014,
            4_040_015, 4_040_018, 4_040_019, 4_040_020, 4_040_021, 4_090_000, 4_090_001, 4_290_000, 5_000_000,
            5_000_001,
        ]
}
