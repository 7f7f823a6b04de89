import FoundationEssentials
import Messages
import Testing

@testable import Gateway

@Suite struct ProblemCatalogTests {
    private static let rows =
        ProblemCatalog.requestEntries + ProblemCatalog.notificationEntries + ProblemCatalog.purchaseEntries
        + ProblemCatalog.paymentEntries + ProblemCatalog.walletEntries

    @Test(arguments: ProblemCode.allCases)
    func `every code has exactly one row with a title and advice`(_ code: ProblemCode) {
        let rows = Self.rows.filter { $0.code == code }
        #expect(rows.count == 1)
        #expect(ProblemCatalog.entry(for: code).code == code)
        for row in rows {
            #expect((400...599).contains(row.status))
            #expect(!row.title.isEmpty)
            #expect(row.advice.hasSuffix("."))
            #expect((row.retryAfterSeconds != nil) == [408, 429, 503].contains(row.status))
        }
    }

    @Test(arguments: AnswerCode.allCases)
    func `every code the services can say is known (A-092)`(_ code: AnswerCode) {
        #expect(ProblemCode(code).rawValue == code.rawValue)
    }

    /// Decisions on A-092; a change here breaks clients.
    @Test(arguments: [
        ("UNAUTHENTICATED", 401), ("TOKEN_EXPIRED", 401), ("WRONG_TOKEN_KIND", 403), ("ORDER_NOT_FOUND", 404),
        ("UNKNOWN_APPLE_PRODUCT_ID", 404), ("TRANSACTION_NOT_FOUND", 404), ("ORDER_USER_MISMATCH", 403),
        ("SANDBOX_NOT_ALLOWED", 403), ("ORDER_PRODUCT_MISMATCH", 409), ("APP_ACCOUNT_TOKEN_MISMATCH", 409),
        ("TRANSACTION_ALREADY_BOUND_TO_OTHER_USER", 409), ("TRANSACTION_ALREADY_REVOKED", 409),
        ("SPEND_CONFLICT", 409), ("BALANCE_NOT_ENOUGH", 409), ("TIME_NOT_ENOUGH", 409),
        ("FAMILY_SHARED_NOT_GRANTED", 409), ("ALREADY_OWNED", 409), ("APP_ACCOUNT_TOKEN_REQUIRED", 409),
        ("APPLE_TRANSACTION_VERIFY_FAILED", 422), ("APPLE_TRANSACTION_ID_EMPTY", 422),
        ("APPLE_PRODUCT_ID_EMPTY", 422), ("SPEND_DEADLINE_PASSED", 422), ("UNKNOWN_ASSET", 422),
        ("PURCHASE_PENDING", 503), ("UNDER_REVIEW", 503), ("SERVICE_BUSY", 503), ("MALFORMED_REQUEST", 400),
        ("METHOD_NOT_ALLOWED", 405), ("PAYLOAD_TOO_LARGE", 413), ("TOO_MANY_REQUESTS", 429),
        ("UNSUPPORTED_MEDIA_TYPE", 415),
    ])
    func `statuses are the decided ones`(_ code: String, _ status: Int) throws {
        let known = try #require(ProblemCode(rawValue: code))
        #expect(ProblemCatalog.entry(for: known).status == status)
    }

    @Test func `the documented table is the catalogue`() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let file = root.appending(path: "docs/protocols/common/http-error-codes.md")
        let documented = String(decoding: try Data(contentsOf: file), as: UTF8.self).split(separator: "\n")
            .filter { $0.hasPrefix("| `") }
        #expect(documented.map(String.init) == Self.rows.map(Self.documentation))
    }

    private static func documentation(_ row: ProblemCatalog.Entry) -> String {
        let again = row.retryAfterSeconds.map { "\($0) s" } ?? "–"
        return "| `\(row.code.rawValue)` | \(row.status) | \(row.title) | \(again) | \(row.advice) |"
    }

    @Test func `a problem type is the code in lower kebab case`() {
        #expect(ProblemCode.orderNotFound.typeReference == "/problems/order-not-found")
    }

    @Test func `a problem has the members of RFC 9457 and ours (S45)`() throws {
        let id = "550e8400-e29b-41d4-a716-446655440000"
        var problem = Problem(.purchasePending)
        problem.mayFinish = false
        let response = problem.response(requestID: id)
        #expect(
            response.text == """
                {"type":"/problems/purchase-pending","title":"Purchase not decided yet","status":503,\
                "detail":"Do not finish the transaction. Send it again after the time in Retry-After; it is granted \
                once.","instance":"urn:uuid:\(id)","code":"PURCHASE_PENDING","requestId":"\(id)","mayFinish":false,\
                "retryAfterSeconds":2}
                """)
        #expect(response.header("Content-Type") == "application/problem+json")
        #expect(response.header("Retry-After") == "2")
        #expect(response.header("X-Request-Id") == id)
    }
}
