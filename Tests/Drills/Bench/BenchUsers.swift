import AppStoreSimulation

/// Many users who buy, each with a token of the app's login and an address of its own.
struct BenchUsers: Sendable {
    /// Enough that neither a wallet's lock nor a limit a user decides the result.
    static let count = 5_000

    private let fields: [[UInt8]]

    /// Users that no earlier run has used, of the app at `host`; nil is the one that takes every host.
    init(
        _ settings: DrillSettings, run: UInt64, login issuer: DrillSettings.Issuer? = nil, host: String? = nil
    ) throws {
        let login = try (issuer ?? settings.login()).tokens()
        fields = try (0..<Self.count).map { number in
            // The deployment trusts this machine as a proxy, so every user comes from an address of its own.
            let address = "10.\(number >> 16 & 255).\(number >> 8 & 255).\(number & 255)"
            let token = try login.token("bench-\(run)-\(number)")
            return Array(
                ("Host: \(host ?? "127.0.0.1")\r\nAuthorization: Bearer \(token)\r\nX-Forwarded-For: \(address)\r\n"
                    + "Content-Type: application/json\r\nContent-Length: ").utf8)
        }
    }

    /// Puts a POST of `user` into `buffer`, up to its body.
    func write(_ user: Int, _ path: StaticString, bodyCount: Int, to buffer: inout [UInt8]) {
        buffer += "POST ".utf8
        buffer += UnsafeBufferPointer(start: path.utf8Start, count: path.utf8CodeUnitCount)
        buffer += " HTTP/1.1\r\n".utf8
        buffer += fields[user]
        buffer += String(bodyCount).utf8
        buffer += "\r\n\r\n".utf8
    }
}

/// An order a user has made: what the purchase will carry.
struct BenchOrder: Sendable {
    let user: Int
    let number: [UInt8]
    /// The appAccountToken, as text.
    let token: [UInt8]
}

/// Makes orders through the public API, as clients do before they buy.
struct OrderSource: LoadSource {
    let count: Int
    private let users: BenchUsers
    private static let body = Array(#"{"appleProductId":"pyy_danbing_60"}"#.utf8)
    /// What was made so far.
    private(set) var orders: [BenchOrder] = []

    init(_ users: BenchUsers, count: Int) {
        self.users = users
        self.count = count
    }

    func write(_ job: Int, to buffer: inout [UInt8]) {
        users.write(job % BenchUsers.count, "/api/iap/orders", bodyCount: Self.body.count, to: &buffer)
        buffer += Self.body
    }

    mutating func accept(_ answer: LoadConnection.Answer, of job: Int) -> Bool {
        guard answer.status == 200, let number = text(answer.bytes, after: #""orderNo":""#),
            let token = text(answer.bytes, after: #""appAccountToken":""#)
        else { return false }
        orders.append(BenchOrder(user: job % BenchUsers.count, number: number, token: token))
        return true
    }

    private func text(_ bytes: ArraySlice<UInt8>, after name: StaticString) -> [UInt8]? {
        LoadConnection.end(of: bytes, name).map { Array(bytes[(bytes.startIndex + $0)...].prefix { $0 != 0x22 }) }
    }
}
