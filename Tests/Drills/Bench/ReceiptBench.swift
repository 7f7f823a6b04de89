import AppStore
import AppStoreSimulation
import Glibc
import LegacyReceipts

/// How long Apple's genuine receipt takes, from base64 to its purchases, on one core.
enum ReceiptBench {
    /// The median of fewer jumps.
    private static let rounds = 15
    /// Receipts a round: a hundredth of a second.
    private static let receipts = 50
    /// The bundle id of the app whose receipt it is.
    private static let bundleID = "dev.bonzer.weeka.app"

    static func run(_ report: inout BenchReport) throws {
        guard let scripts = getenv("PURSER_DRILL_SCRIPTS").map({ String(cString: $0) }),
            let text = Shell.output("cat '\(scripts)/../../Tests/Fixtures/receipts/receipt-sandbox-g5.b64'")
        else {
            report.add(
                Measurement("receipt_verify_ms", .atMost(1), notMeasured: "PURSER_DRILL_SCRIPTS names no clone"))
            return
        }
        let verifier = try ReceiptVerifier(apps: [AcceptedApp(id: "bench", bundleIDs: [bundleID])])
        let sent = Array(text.utf8)
        let now = WallClock.milliseconds()
        var times: [Double] = []
        for _ in 0...rounds {
            let began = ContinuousClock.now
            for _ in 0..<receipts {
                guard case .receipt(let bytes) = try ReceiptText(sent),
                    try verifier.verify(bytes, now: now).receipt.purchases.count == 2
                else { throw VerifyBench.WrongAnswer(description: "the genuine receipt was not verified") }
            }
            let took = (ContinuousClock.now - began) / receipts
            times.append(Double(took.components.attoseconds) / 1e15 + Double(took.components.seconds) * 1_000)
        }
        // The first round fills caches.
        report.add(
            Measurement(
                "receipt_verify_ms", Statistics.median(Array(times.dropFirst())) ?? 0, "ms", .atMost(1),
                how: "Apple's genuine receipt of \(sent.count) characters with two purchases, three RSA signatures, "
                    + "nothing cached"))
    }
}
