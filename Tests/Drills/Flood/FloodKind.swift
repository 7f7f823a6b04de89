import JSON

/// One way to be hostile.
struct FloodKind: Sendable {
    /// What a connection does.
    enum Behaviour: Sendable {
        /// Sends this request, and again as soon as it has its answer.
        case asks([UInt8])
        /// Sends this head and then a byte of the body now and then.
        case trickles([UInt8])
        /// Sends these bytes and hangs up, again and again.
        case hangsUp([UInt8])
    }

    /// Stable: a row of the report.
    let name: String
    /// For people.
    let how: String
    let behaviour: Behaviour
    /// The address it connects from; any of 127.0.0.0/8 is this machine. Only 127.0.0.1 is a trusted proxy.
    let source: String

    /// An address for documentation (RFC 5737) that the trusted proxy names.
    private static let address = "203.0.113.66"

    /// All of them.
    ///
    /// - Parameter token: a login token of the one user who hammers.
    static func all(token: String) -> [FloodKind] {
        let garbage = String(repeating: "\u{1}garbage", count: 250)
        // A well-formed JWS that nobody signed: Verification has to look at each one that gets through.
        let forged =
            "eyJhbGciOiJFUzI1NiJ9." + String(repeating: "QUJD", count: 500) + "." + String(repeating: "QUJD", count: 22)
        let submission = String(
            decoding: JSONWriter.write(["signedTransactionInfo": .string(forged)] as JSONObject), as: UTF8.self)
        return [
            FloodKind(
                name: "garbage", how: "no token, 2 KB of garbage, from an address of its own",
                behaviour: .asks(request("/api/iap/apple/verify", [], garbage)), source: "127.0.0.2"),
            FloodKind(
                name: "hammer", how: "one logged-in user who submits forged purchases, behind the proxy",
                behaviour: .asks(
                    request(
                        "/api/iap/apple/verify-without-order",
                        ["Authorization: Bearer \(token)", "X-Forwarded-For: \(address)"], submission)),
                source: "127.0.0.1"),
            FloodKind(
                name: "slow_bodies", how: "60 KB announced, a byte twice a second, behind the proxy",
                behaviour: .trickles(
                    request("/api/iap/apple/verify", ["X-Forwarded-For: \(address)"], "", announced: 60_000)),
                source: "127.0.0.1"),
            FloodKind(
                name: "churn", how: "connects, sends half a head, hangs up, from an address of its own",
                behaviour: .hangsUp(Array("POST /api/iap/apple/verify HTTP/1.1\r\nHost: ".utf8)), source: "127.0.0.3"),
        ]
    }

    private static func request(
        _ path: String, _ fields: [String], _ body: String, announced: Int? = nil
    ) -> [UInt8] {
        let head =
            [
                "POST \(path) HTTP/1.1", "Host: 127.0.0.1", "Content-Type: application/json",
                "Content-Length: \(announced ?? body.utf8.count)",
            ] + fields
        return Array((head.joined(separator: "\r\n") + "\r\n\r\n" + body).utf8)
    }
}
