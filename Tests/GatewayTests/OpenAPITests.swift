import Apps
import HTTPServer
import JSON
import Messages
import Observability
import Pipeline
import Testing

@testable import Gateway

/// The OpenAPI description of every surface against the gateway. Beyond what is here every answer that a test gets
/// through `TestDoor.send` is compared with the description.
@Suite struct OpenAPITests {
    private static func surfaces() throws -> Surfaces { try TestDoor(Samples.everything).surfaces }

    private static func surface(_ kind: AppConfiguration.Surface) throws -> any Surface {
        let asker = ScriptedAsker(Samples.everything)
        let security = SecurityLog(logger: .silent, metrics: Metrics())
        return switch kind {
        case .orders: OrdersSurface(asker: asker, security: security, now: { TestTokens.now })
        case .points: PointsSurface(asker: asker, security: security)
        case .game: GameSurface(asker: asker, security: security, receipts: ReceiptShare(most: 1))
        }
    }

    private static func shared() -> [(method: String, endpoint: Endpoint)] {
        NotificationSurface(asker: ScriptedAsker(Samples.everything), metrics: Metrics(), logger: .silent).endpoints
    }

    @Test(arguments: AppConfiguration.Surface.allCases)
    func `every call is described, and nothing that is no call (B-149)`(_ kind: AppConfiguration.Surface) throws {
        let contract = try #require(Contract(try Self.surfaces(), kind))
        let surface = try Self.surface(kind)
        let calls = (surface.endpoints + Self.shared()).map { "\($0.method) \($0.endpoint.route)" }
        #expect(Set(contract.operations.map(\.name)) == Set(calls + ["GET /openapi.json"]))
        // What stands in the files and leads to no call would be left out silently.
        for file in [type(of: surface).description, PackageResources.common_json] {
            let written = try JSONReader.parseObject(file)["paths"]?.objectValue?.members ?? []
            let names = written.flatMap { path, item in
                (item.objectValue?.keys ?? []).map { "\($0.uppercased()) \(path)" }
            }
            #expect(Set(names).isSubset(of: Set(calls + ["GET /openapi.json"])))
        }
    }

    @Test(arguments: AppConfiguration.Surface.allCases)
    func `a description is strict JSON without a loose end, its examples are what its schemas say`(
        _ kind: AppConfiguration.Surface
    ) throws {
        let contract = try #require(Contract(try Self.surfaces(), kind))
        let again = try JSONReader.parseObject(JSONWriter.write(contract.document))
        #expect(again == contract.document)
        let check = SchemaCheck(document: contract.document)
        let references = Self.references(in: .object(contract.document))
        #expect(references.count > 100)
        for reference in references {
            #expect(check.resolved(["$ref": .string(reference)]) != nil, "\(reference)")
        }
        #expect(contract.wrongExamples == [])
        let ids = contract.operations.compactMap { $0.operation["operationId"]?.stringValue }
        #expect(Set(ids).count == contract.operations.count)
    }

    private static func references(in value: JSONValue) -> [String] {
        switch value {
        case .object(let object):
            object.members.flatMap { key, member in
                key == "$ref" ? [member.stringValue ?? ""] : references(in: member)
            }
        case .array(let elements): elements.flatMap(references)
        default: []
        }
    }

    @Test func `every code is described for some call, and each code the files name exists`() throws {
        var described: Set<String> = []
        for kind in AppConfiguration.Surface.allCases {
            let contract = try #require(Contract(try Self.surfaces(), kind))
            for (_, operation) in contract.operations { described.formUnion(Self.codes(of: operation, contract)) }
            for file in [type(of: try Self.surface(kind)).description, PackageResources.common_json] {
                for name in Self.problems(in: .object(try JSONReader.parseObject(file))) {
                    #expect(ProblemCode(rawValue: name) != nil, "\(name)")
                }
            }
        }
        #expect(described == Set(ProblemCode.allCases.map(\.rawValue)))
    }

    private static func codes(of operation: JSONObject, _ contract: Contract) -> [String] {
        (operation["responses"]?.objectValue?.members ?? []).flatMap { _, response in
            let content = contract.resolved(response)?["content"]?.objectValue?["application/problem+json"]?.objectValue
            return content?["examples"]?.objectValue?.keys ?? []
        }
    }

    private static func problems(in value: JSONValue) -> [String] {
        (value.objectValue?.members ?? []).flatMap { key, member in
            key == "problems" ? (member.arrayValue ?? []).compactMap(\.stringValue) : problems(in: member)
        }
    }

    /// Decided about spends, orders and queries only.
    static let notOfPurchases: Set<AnswerCode> = [
        .orderingRestricted, .spendingRestricted, .spendConflict, .spendDeadlinePassed, .balanceNotEnough,
        .timeNotEnough, .unknownAsset, .transactionNotFound,
    ]
    /// Decided where a client says what it bought, which `orders` does not ask.
    static let ofExpectations: Set<AnswerCode> = [.paymentProductMismatch, .paymentTransactionInvalid]
    /// Decided where a client names an order, which `points` does not ask.
    private static let ofOrders: Set<AnswerCode> = [.orderNotFound, .orderUserMismatch, .orderProductMismatch]

    static let verifyCalls: [(host: String, path: String, body: String, token: String, impossible: Set<AnswerCode>)] = [
        ("clouds.example", "/api/iap/apple/verify", Samples.verifyBody, "clouds", ofExpectations),
        (
            "clouds.example", "/api/iap/apple/verify-without-order", Samples.verifyBody, "clouds",
            ofExpectations.union(ofOrders)
        ),
        (
            "points.example", "/api/v1/payments/apple/transactions/verify",
            #"{"productCode":"a","appStoreProductId":"b","transactionId":"1","signedTransactionInfo":"a.b.c"}"#,
            "points", ofOrders
        ),
    ]

    @Test(arguments: verifyCalls, [PurchaseAnswered.Status.refused, .held, .pending])
    func `whatever the services may answer to a purchase is described`(
        _ call: (host: String, path: String, body: String, token: String, impossible: Set<AnswerCode>),
        _ status: PurchaseAnswered.Status
    ) async throws {
        let codes = AnswerCode.allCases.filter { !Self.notOfPurchases.union(call.impossible).contains($0) }
        #expect(codes.count >= 12)
        for code in codes {
            let door = try TestDoor { _, _ in
                PurchaseAnswered(status: status, code: code, reason: "reason", mayFinish: true)
            }
            let response = try await door.send(
                "POST", call.path, body: call.body, token: try TestTokens.make(call.token), host: call.host)
            #expect(response.status >= 400)
        }
    }

    @Test(arguments: [
        RequestError.timedOut, .unreadableAnswer, .overloaded, .parked(reason: "x"), .brokerUnavailable(reason: "x"),
    ])
    func `a question without an answer is described, for every call`(_ error: RequestError) async throws {
        for (kind, host, app) in [
            (AppConfiguration.Surface.orders, "clouds.example", "clouds"), (.points, "points.example", "points"),
        ] {
            for (method, endpoint) in try Self.surface(kind).endpoints + Self.shared() {
                let path = endpoint.route.replacing("{transactionId}", with: "2000000888888888")
                let body: String? =
                    switch path {
                    case _ where method == "GET" || method == "DELETE": nil
                    case "/api/wallet/consume": Samples.consumeBody
                    case "/api/iap/orders": #"{"appleProductId":"pyy_danbing_60"}"#
                    case "/api/v1/payments/apple/transactions/verify": Self.verifyCalls[2].body
                    case "/api/iap/consumption-consent": "{}"
                    default: Samples.verifyBody.replacing("{", with: #"{"signedPayload":"a.b.c","#)
                    }
                let door = try TestDoor { _, _ in throw error }
                let response = try await door.send(
                    method, path, body: body, token: try TestTokens.make(app, endpoint.token ?? .login), host: host)
                #expect(response.status >= 500, "\(method) \(path)")
            }
        }
    }

    @Test func `the description of the app asked is served without a token, under its prefix`() async throws {
        let door = try TestDoor(Samples.everything)
        for (host, path, title, server) in [
            ("clouds.example", "/openapi.json", "Purser: orders", "/"),
            ("clouds.example", "/games/openapi.json", "Purser: orders", "/games"),
            ("points.example", "/openapi.json", "Purser: points", "/"),
        ] {
            let response = try await door.send("GET", path, token: .some(nil), host: host)
            #expect(response.status == 200 && response.header("Content-Type") == "application/json")
            let document = try response.json
            #expect(document["info"]?.objectValue?["title"] == .string(title))
            #expect(document["servers"] == [["url": .string(server)]])
        }
        #expect(try await door.send("GET", "/openapi.json", host: "other.example").code == "APP_NOT_FOUND")
    }
}
