import AppStoreSimulation
import Glibc
import JSON

/// What the bench needs of a running system: where to call, who calls, and how Apple's stand-in signs.
struct BenchTarget: Sendable {
    /// The address of the call that is measured.
    let url: String
    private let tokens: [String]
    private let signer: TransactionSigner
    private let bundleID: String
    /// Transaction ids must be new for each run; the time makes them so.
    private let firstID: UInt64
    private let purchaseDate: Int64

    /// Users that buy; enough that their wallets' locks do not decide the result.
    private static let users = 500

    init(_ settings: DrillSettings) throws {
        url = try settings.value("GATEWAY_URL") + "/api/iap/apple/verify-without-order"
        bundleID = try settings.value("BUNDLE_ID")
        let login = try settings.login().tokens()
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        firstID = UInt64(now.tv_sec) * 1_000_000_000 + UInt64(now.tv_nsec) / 1_000 * 1_000
        purchaseDate = Int64(now.tv_sec) * 1_000
        let run = firstID
        tokens = try (0..<Self.users).map { try login.token("bench-\(run)-\($0)") }
        guard let state = getenv("PURSER_STATE").map({ String(cString: $0) }) else {
            throw DrillSettings.Problem(description: "PURSER_STATE, the folder of the running deployment, is not set")
        }
        signer = TransactionSigner(try SimulatedAuthority.load(from: state + "/simulator"))
    }

    /// The body and the token of the purchase `number`.
    func purchase(_ number: Int) throws -> (body: [UInt8], token: String) {
        let transaction = SimulatedTransaction(
            transactionID: String(firstID + UInt64(number)), bundleID: bundleID, productID: "pyy_danbing_60",
            purchaseDate: purchaseDate)
        let signed = String(decoding: try signer.sign(transaction), as: UTF8.self)
        let body = JSONWriter.write(["signedTransactionInfo": .string(signed)] as JSONObject)
        return (body, tokens[number % tokens.count])
    }
}
