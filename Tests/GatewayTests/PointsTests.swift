import Apps
import Crypto
import HTTPServer
import JSON
import Messages
import Observability
import Pipeline
import Testing

@testable import Gateway

/// The calls of document B.
@Suite struct PointsTests {
    private static let points = AssetID("POINTS")
    private static let token = "7c4c7a82-2f6f-4e70-b57a-8b0a7f2e9b72"
    private static let verify = "/api/v1/payments/apple/transactions/verify"
    private static let body = """
        {"productCode":"starter_pack","appStoreProductId":"com.meeyao.qianwen.starter_pack",
         "transactionId":"1000000123456789","signedTransactionInfo":"a.b.c",
         "appAccountToken":"7C4C7A82-2F6F-4E70-B57A-8B0A7F2E9B72","userId":"mallory","credits":1000000}
        """

    private static func amounts(_ amount: Int64) -> [AssetAmount] { [AssetAmount(asset: points, amount: amount)] }

    private static func answered(_ status: PurchaseAnswered.Status) -> PurchaseAnswered {
        PurchaseAnswered(
            status: status, mayFinish: true, transactionID: TransactionID("1000000123456789"),
            productID: ProductID("com.meeyao.qianwen.starter_pack"), amounts: amounts(100), balances: amounts(180))
    }

    private static func send(
        _ method: String, _ path: String, _ body: String? = nil, token: String? = nil,
        _ script: @escaping ScriptedAsker.Script
    ) async throws -> (HTTPResponse, ScriptedAsker) {
        let door = try TestDoor(script)
        let response = try await door.send(
            method, path, body: body, token: try token ?? TestTokens.make("points"), host: "points.example")
        return (response, door.asker)
    }

    @Test
    func `a granted package answers as document B shows, and the question has all that the client said (B-071…B-078)`()
        async throws
    {
        let (response, asker) = try await Self.send("POST", Self.verify, Self.body) { _, _ in Self.answered(.granted) }
        #expect(response.status == 200)
        #expect(
            response.text
                == (try compact(
                    """
                    {"status":"granted","productCode":"starter_pack","transactionId":"1000000123456789",
                     "creditsAdded":100,"newBalance":180,"ledgerEventId":"payment.apple_iap:1000000123456789"}
                    """)))
        let question = try #require(asker.asked.first as? PurchaseSubmitted)
        #expect(question.userID == UserID("user-1") && question.signedTransaction == "a.b.c")
        #expect(
            question.expectation
                == PurchaseExpectation(
                    productCode: "starter_pack", productID: ProductID("com.meeyao.qianwen.starter_pack"),
                    transactionID: TransactionID("1000000123456789"), appAccountToken: Self.token))
    }

    @Test func `a repetition is 200 already_granted with nothing added and the balance (B-079 B-080)`() async throws {
        let (response, _) = try await Self.send("POST", Self.verify, Self.body) { _, _ in
            Self.answered(.alreadyGranted)
        }
        #expect(response.status == 200)
        let json = try response.json
        #expect(json["status"] == "already_granted" && json["creditsAdded"] == 0 && json["newBalance"] == 180)
        #expect(json["ledgerEventId"] == "payment.apple_iap:1000000123456789")
    }

    static let refusals: [(AnswerCode, String?, String, Int)] = [
        (.unknownAppleProductID, nil, "PAYMENT_PRODUCT_NOT_FOUND", 404),
        (.paymentProductMismatch, nil, "PAYMENT_PRODUCT_MISMATCH", 422),
        (.appleTransactionVerifyFailed, "chain_untrusted", "PAYMENT_TRANSACTION_INVALID", 422),
        (.appleTransactionIDEmpty, nil, "PAYMENT_TRANSACTION_INVALID", 422),
        (.paymentTransactionInvalid, nil, "PAYMENT_TRANSACTION_INVALID", 422),
        (.transactionAlreadyRevoked, nil, "PAYMENT_TRANSACTION_REVOKED", 409),
        (.transactionAlreadyBound, nil, "PAYMENT_TRANSACTION_CONFLICT", 409),
        (.appAccountTokenMismatch, nil, "PAYMENT_TRANSACTION_CONFLICT", 409),
        (.paymentStarterPackIneligible, nil, "PAYMENT_STARTER_PACK_INELIGIBLE", 409),
        (.sandboxNotAllowed, nil, "PAYMENT_SANDBOX_NOT_ALLOWED", 403),
        (.underReview, "amount_overflow", "PAYMENT_GRANT_FAILED", 500),
        (.purchasePending, nil, "PAYMENT_PENDING", 503),
        (.purchasePending, "revocation_unavailable", "PAYMENT_APPLE_UNAVAILABLE", 503),
    ]

    @Test(arguments: refusals)
    func `every refusal has document B's code and status as problem details (B-082…B-090)`(
        _ code: AnswerCode, _ reason: String?, _ told: String, _ status: Int
    ) async throws {
        let (response, _) = try await Self.send("POST", Self.verify, Self.body) { _, _ in
            PurchaseAnswered(
                status: code == .purchasePending ? .pending : .refused, code: code, reason: reason, mayFinish: false)
        }
        #expect(response.status == status && response.code == told)
        #expect(response.header("Content-Type") == "application/problem+json")
        #expect(try response.json["mayFinish"] == false)
        #expect((response.header("Retry-After") != nil) == (status == 503))
    }

    @Test func `no answer is PAYMENT_PENDING, a parked one PAYMENT_GRANT_FAILED; neither may be finished (B-089)`()
        async throws
    {
        let (late, _) = try await Self.send("POST", Self.verify, Self.body) { _, _ in throw RequestError.timedOut }
        #expect(late.status == 503 && late.code == "PAYMENT_PENDING")
        let (parked, _) = try await Self.send("POST", Self.verify, Self.body) { _, _ in
            throw RequestError.parked(reason: "x")
        }
        #expect(parked.status == 500 && parked.code == "PAYMENT_GRANT_FAILED")
        #expect(try late.json["mayFinish"] == false && parked.json["mayFinish"] == false)
    }

    @Test(arguments: [
        (#""productCode":"starter_pack","#, "", "productCode"),
        (#""transactionId":"1000000123456789""#, #""transactionId":1000000123456789"#, "transactionId"),
        (#""signedTransactionInfo":"a.b.c""#, #""signedTransactionInfo":" ""#, "signedTransactionInfo"),
        ("7C4C7A82-2F6F-4E70-B57A-8B0A7F2E9B72", "nonsense", "appAccountToken"),
    ])
    func `a body that cannot be read is told which member is wrong`(_ old: String, _ new: String, _ field: String)
        async throws
    {
        let (response, asker) = try await Self.send("POST", Self.verify, Self.body.replacing(old, with: new)) { _, _ in
            Self.answered(.granted)
        }
        #expect(response.status == 400 && asker.asked.isEmpty)
        #expect(try response.json["field"] == .string(field))
    }

    @Test func `packages are what is on sale to this user, with the user's token (B-003 B-025 B-076)`() async throws {
        var starter = Samples.product("new_user_pack", "new_user_pack", [("POINTS", 60)], sort: 1)
        starter.starter = StarterOffer(offer: "new_user")
        let regular = Samples.product("premium_pack", "premium_pack", [("POINTS", 415)], sort: 2)
        let gone = Samples.product("old_pack", "old_pack", [("POINTS", 1)], sort: 3, isEnabled: false)
        let products = [regular, starter, gone]
        for used: [String] in [[], ["new_user"]] {
            let (response, asker) = try await Self.send("GET", "/api/v1/points/packages") { question, _ in
                if question is TokenRequested { return TokenAnswered(appAccountToken: Self.token, usedOffers: used) }
                return Samples.catalog(products)
            }
            let json = try response.json
            #expect(json["appAccountToken"] == .string(Self.token))
            let codes = json["packages"]?.arrayValue?.compactMap { $0.objectValue?["productCode"]?.stringValue }
            #expect(codes == (used.isEmpty ? ["new_user_pack", "premium_pack"] : ["premium_pack"]))
            // The token is asked for first: it is stored before anything is told.
            #expect(asker.asked.first is TokenRequested)
        }
    }

    @Test func `the balance and what was ever earned and spent (B-004 B-103)`() async throws {
        let (response, _) = try await Self.send("GET", "/api/v1/points/balance") { _, _ in
            BalanceAnswered(balances: Self.amounts(180), spent: Self.amounts(20))
        }
        #expect(response.text == #"{"balance":180,"lifetimeEarned":200,"lifetimeSpent":20}"#)
    }

    @Test func `a transaction of the caller's is told, another's is not there (B-044 B-081)`() async throws {
        var summary = TransactionSummary(
            transactionID: TransactionID("1000000123456789"), environment: .production,
            productID: ProductID("com.meeyao.qianwen.starter_pack"), quantity: 1, orderNumber: nil, status: "REVOKED",
            heldReason: nil, amounts: Self.amounts(100), revokedShare: 100_000, purchaseDate: 0, grantedAt: 1)
        summary.productCode = "starter_pack"
        summary.owed = Self.amounts(30)
        let told = summary
        let (response, _) = try await Self.send("GET", "/api/v1/payments/apple/transactions/1000000123456789") { _, _ in
            TransactionAnswered(transactions: [told])
        }
        let json = try response.json
        #expect(json["status"] == "refunded_insufficient" && json["overdueAmount"] == 30)
        #expect(json["productCode"] == "starter_pack" && json["isCredited"] == true)
        let (missing, _) = try await Self.send("GET", "/api/v1/payments/apple/transactions/7") { _, _ in
            TransactionAnswered(transactions: [])
        }
        #expect(missing.status == 404 && missing.code == "PAYMENT_TRANSACTION_NOT_FOUND")
    }

    @Test func `an app's file chooses the calls: those of another surface are not there`() async throws {
        let (response, _) = try await Self.send("GET", "/api/wallet/balance") { _, _ in BalanceAnswered(balances: []) }
        #expect(response.status == 404 && response.code == "NOT_FOUND")
        let door = try TestDoor(Samples.everything)
        #expect(try await door.send("GET", "/api/v1/points/balance").code == "NOT_FOUND")
        #expect(try await door.send("GET", "/api/v1/points/balance", host: "points.example").status == 401)
    }

    @Test
    func `an address is hashed under every key and in one spelling; it leaves in no other form (B-027 B-028 B-093)`()
        async throws
    {
        let (_, asker) = try await Self.send(
            "POST", Self.verify, Self.body, token: try TestTokens.make("points", email: " Anna@Example.COM ")
        ) { _, _ in Self.answered(.granted) }
        let question = try #require(asker.asked.first as? PurchaseSubmitted)
        let keys = TestDoor.identityKeys
        let expected = keys.map { id, secret in
            IdentityHash(keyID: id, hash: Hex.encode(HMAC.sha256(key: secret, Array("email:anna@example.com".utf8))))
        }
        #expect(question.identities == expected && keys.count == 2)
        let wire = String(decoding: try MessageCoding.encode(question), as: UTF8.self)
        #expect(!wire.lowercased().contains("example.com"))
    }

    static let names: [(String?, Bool?, String)] = [
        ("a@b", nil, "email:a@b"), ("A@B", true, "email:a@b"), ("a@b", false, "user:user-1"), (nil, nil, "user:user-1"),
        ("no address", nil, "user:user-1"), ("a@b@c", nil, "user:user-1"), ("@b", nil, "user:user-1"),
    ]

    @Test(arguments: names) func `without an address that is known to be theirs, a user is their id (B-028)`(
        _ email: String?, _ isVerified: Bool?, _ name: String
    ) throws {
        let token = try TestTokens.make("points", email: email, isVerified: isVerified)
        let request = HTTPRequest(method: "GET", path: "/", headers: [("Authorization", "Bearer \(token)")])
        let app = ServedApp(
            id: AppID("points"), surface: .points, assets: [], login: try TestTokens.verifier("points", .login),
            service: nil)
        let verdict = Authenticator(now: { TestTokens.now }).judge(request, for: app, kind: .login)
        guard case .caller(let caller) = verdict else {
            Issue.record("\(verdict)")
            return
        }
        #expect(IdentityHasher.name(of: caller) == name)
    }
}
