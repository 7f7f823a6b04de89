import AppStoreSimulation
import HTTPClient
import JSON
import TestSupport
import Testing

/// Hostile texts in every field of every call: each is an ordinary value that nobody has, or refused (S40).
@Suite(.timeLimit(.minutes(5))) struct HostileTextTests {
    /// A call with a text at one place of it.
    private struct Place: Sendable {
        let name: String
        let isServer: Bool
        /// Statuses that are right.
        let statuses: Set<Int>
        let request: @Sendable (_ text: String) -> HTTPClientRequest
    }

    private static func post(_ path: String, _ body: JSONObject) -> HTTPClientRequest {
        HTTPClientRequest("POST", path, headers: [("Content-Type", "application/json")], body: JSONWriter.write(body))
    }

    private static func escaped(_ text: String) -> String {
        text.utf8.reduce(into: "") { $0 += "%" + String($1 >> 4, radix: 16) + String($1 & 15, radix: 16) }
    }

    private static func consume(
        _ name: String, _ statuses: Set<Int>, _ change: @escaping @Sendable (inout JSONObject, String) -> Void
    )
        -> Place
    {
        Place(name: name, isServer: true, statuses: statuses) { text in
            var body: JSONObject = [
                "userId": "hostile-texts", "assetType": "DANBING", "amount": 1,
                "sourceId": .string("hostile \(UInt64.random(in: 0 ... .max))"), "deadline": "2100-01-01T00:00:00Z",
            ]
            change(&body, text)
            return post("/api/wallet/consume", body)
        }
    }

    private static let places: [Place] = [
        Place(name: "orders.appleProductId", isServer: false, statuses: [400, 404]) {
            post("/api/iap/orders", ["appleProductId": .string($0)])
        },
        Place(name: "verify.orderNo", isServer: false, statuses: [400, 422]) {
            post("/api/iap/apple/verify", ["orderNo": .string($0), "signedTransactionInfo": "a.b.c"])
        },
        Place(name: "verify.signedTransactionInfo", isServer: false, statuses: [400, 422]) {
            post("/api/iap/apple/verify", ["orderNo": "IAP1", "signedTransactionInfo": .string($0)])
        },
        Place(name: "verify-without-order.signedTransactionInfo", isServer: false, statuses: [400, 422]) {
            post("/api/iap/apple/verify-without-order", ["signedTransactionInfo": .string($0)])
        },
        Place(name: "transactions/{transactionId}", isServer: false, statuses: [400, 404]) {
            HTTPClientRequest("GET", "/api/iap/transactions/\(escaped($0))")
        },
        Place(name: "ledger?asset", isServer: false, statuses: [200, 400, 422]) {
            HTTPClientRequest("GET", "/api/wallet/ledger?asset=\(escaped($0))")
        },
        Place(name: "ledger?limit", isServer: false, statuses: [400]) {
            HTTPClientRequest("GET", "/api/wallet/ledger?limit=\(escaped($0))")
        },
        Place(name: "ledger?cursor", isServer: false, statuses: [400, 200]) {
            HTTPClientRequest("GET", "/api/wallet/ledger?cursor=\(escaped($0))")
        },
        Place(name: "an unknown parameter", isServer: false, statuses: [200, 400]) {
            HTTPClientRequest("GET", "/api/wallet/balance?\(escaped($0))=\(escaped($0))")
        },
        Place(name: "the path", isServer: false, statuses: [400, 404]) { HTTPClientRequest("GET", "/\(escaped($0))") },
        consume("consume.userId", [400, 409]) { $0.set("userId", .string($1)) },
        consume("consume.assetType", [400, 422]) { $0.set("assetType", .string($1)) },
        consume("consume.sourceId", [400, 409]) { $0.set("sourceId", .string($1)) },
        consume("consume.amount", [400]) { $0.set("amount", .string($1)) },
        consume("consume.deadline", [400]) { $0.set("deadline", .string($1)) },
        consume("a member nobody knows", [400]) { $0.set($1, "x") },
    ]

    @Test func `in every field of every call a hostile text is refused or names nobody, and all books stay (S40)`()
        async throws
    {
        let deployment = try await Deployment.shared("hostile")
        try await onThread {
            let pids = deployment.pids()
            let books = Books(deployment: deployment)
            let tables = try books.tables()
            let ledger = try books.number("SELECT count(*) FROM granting.ledger", [])
            var client = try HTTPClient.open()
            let login = try deployment.loginToken("hostile-texts")
            let server = try deployment.serverToken()
            for place in Self.places {
                for text in HostileValues.texts + [
                    HostileValues.nul, "\u{0}", "\u{FFFF}", String(repeating: "é", count: 600),
                ] {
                    var request = place.request(text)
                    request.url = deployment.gateway + request.url
                    request.headers.append(("Authorization", "Bearer " + (place.isServer ? server : login)))
                    let response = try client.send(request)
                    if response.status >= 400 {
                        Canaries.keep(String(decoding: response.body, as: UTF8.self), in: "refusals")
                    }
                    #expect(
                        place.statuses.contains(response.status),
                        "\(place.name) of \(text.prefix(30)): \(response.status)")
                    // Never handed back as something a browser would run.
                    let type = response.header("Content-Type") ?? ""
                    #expect(["application/json", "application/problem+json"].contains(type), "\(place.name): \(type)")
                }
            }
            #expect(deployment.pids() == pids, "no process died")
            #expect(try books.tables() == tables)
            #expect(try books.number("SELECT count(*) FROM granting.ledger", []) == ledger)
            #expect(try books.wrongAccounts() == 0)
        }
    }

    @Test func `a user whose id is hostile has a wallet like any other (S40)`() async throws {
        let deployment = try await Deployment.shared("hostile")
        try await onThread {
            for user in ["'; DROP TABLE granting.accounts; --", "%", "_", "\\", "a\"b", "$1", "é", "e\u{301}"] {
                var backend = try deployment.backend(user)
                let order = try backend.order("pyy_danbing_60")
                let purchase = try deployment.purchase(
                    "pyy_danbing_60", account: "hostile", token: order.appAccountToken)
                #expect(
                    try backend.verify(purchase.signedTransactionInfo, orderNumber: order.number).status == "GRANTED")
                #expect(try backend.balance() == ["danbing": 60, "timeMinutes": 0], "\(user)")
            }
            var stranger = try deployment.backend("_ or anybody")
            #expect(try stranger.balance() == ["danbing": 0, "timeMinutes": 0])
            #expect(try Books(deployment: deployment).wrongAccounts() == 0)
        }
    }
}
