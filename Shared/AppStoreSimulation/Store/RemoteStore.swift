import HTTPClient
import JSON

/// A store that runs as the `appstore-simulator` executable. Blocking, for one thread.
public final class RemoteStore: StoreAccess {
    private let base: String
    private var client: HTTPClient

    /// The store at `base`, such as `http://127.0.0.1:8099`. No connection is made yet.
    public init(base: String) throws(StoreError) {
        self.base = base
        var configuration = HTTPClient.Configuration()
        // A stand-in on the same machine answers in milliseconds; a stopped one should be noticed soon.
        configuration.timeout = .seconds(10)
        do {
            client = try HTTPClient.open(configuration)
        } catch {
            throw .unreachable(error.code)
        }
    }

    /// Buys.
    public func purchase(_ request: PurchaseRequest) throws(StoreError) -> PurchaseResult {
        let body = try send("POST", "/simulator/purchases", request.json)
        if let id = body["pendingId"]?.stringValue { return .pending(id: id) }
        return .purchased(try Self.purchase(body))
    }

    /// A parent decides on a purchase that waits; nil if declined.
    public func decide(pendingID: String, isApproved: Bool) throws(StoreError) -> SignedPurchase? {
        let body = try send(
            "POST", "/simulator/approvals", ["pendingId": .string(pendingID), "approved": .bool(isApproved)])
        return isApproved ? try Self.purchase(body) : nil
    }

    /// What no app has finished.
    public func unfinished(appleAccount: String, environment: String) throws(StoreError) -> [SignedPurchase] {
        let query = "appleAccount=\(Self.escaped(appleAccount))&environment=\(Self.escaped(environment))"
        let body = try send("GET", "/simulator/unfinished?" + query, nil)
        var purchases: [SignedPurchase] = []
        for value in body["transactions"]?.arrayValue ?? [] {
            purchases.append(try Self.purchase(value.objectValue ?? [:]))
        }
        return purchases
    }

    /// Finishes.
    public func finish(_ transactionID: String, environment: String) throws(StoreError) {
        _ = try send(
            "POST", "/simulator/finish",
            ["transactionId": .string(transactionID), "environment": .string(environment)])
    }

    /// Refunds a share in per cent, or takes the refund back (0).
    public func refund(
        _ transactionID: String, environment: String, percentage: Int64 = 100,
        notification: DeliveryPlan = DeliveryPlan()
    ) throws(StoreError) -> SignedPurchase {
        try refund(
            transactionID, environment: environment, milliunits: percentage * 1_000, notification: notification)
    }

    /// One transaction in its newest statement.
    public func transaction(_ transactionID: String, environment: String) throws(StoreError) -> SignedPurchase {
        let path = "/simulator/transactions/\(Self.escaped(transactionID))?environment=\(Self.escaped(environment))"
        return try Self.purchase(try send("GET", path, nil))
    }

    func send(_ method: String, _ path: String, _ body: JSONObject?) throws(StoreError) -> JSONObject {
        let response: HTTPClientResponse
        do {
            response = try client.send(
                HTTPClientRequest(
                    method, base + path, headers: body == nil ? [] : [("Content-Type", "application/json")],
                    body: body.map { JSONWriter.write($0) }))
        } catch {
            throw .unreachable(error.code)
        }
        let object = (try? JSONReader.parseObject(response.body)) ?? [:]
        guard response.status < 300 else {
            throw .refused(status: response.status, code: object["code"]?.stringValue ?? "store.no_code")
        }
        return object
    }

    static func purchase(_ body: JSONObject) throws(StoreError) -> SignedPurchase {
        do {
            return try SignedPurchase(body)
        } catch {
            throw .refused(status: 200, code: error.code)
        }
    }

    /// Percent-encodes everything but unreserved characters (RFC 3986 §2.3).
    private static func escaped(_ text: String) -> String { PercentEncoding.encode(text) }
}

/// Percent-encoding of URL parts.
enum PercentEncoding {
    static func encode(_ text: String) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                bytes.append(byte)
            default:
                bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
