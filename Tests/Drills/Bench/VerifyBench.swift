import AppStore
import AppStoreSimulation
import Crypto
import Glibc
import JOSE
import JSON

/// How fast transactions are verified, on one core, beside what nobody can be faster than.
enum VerifyBench {
    /// Turns of everything that is compared; medians of fewer jump.
    private static let rounds = 15
    /// Long enough for a thousand verifications, short enough that the machine's moods hit all subjects alike.
    private static let slice = Duration.milliseconds(120)
    /// Different transactions, so that no cache of the processor holds the answer.
    private static let samples = 256
    private static let bundleID = "com.example.bench"

    /// A signed transaction that was not accepted: no number counts then.
    struct WrongAnswer: Error, CustomStringConvertible {
        let description: String
    }

    static func run(_ options: BenchOptions, _ report: inout BenchReport) throws {
        let authority = try SimulatedAuthority.generate()
        let signer = TransactionSigner(authority)
        let cached = try (0..<samples).map { try signer.sign(transaction($0)) }
        let varied = try (0..<samples).map { number in
            // Another text for the same certificates, different from its beginning on as another leaf would be.
            let header: JSONObject = [
                "kid": .string("\(number)"), "alg": "ES256", "x5c": .array(authority.x5c.map { .string($0) }),
            ]
            return try signer.sign(payload: JSONWriter.write(transaction(number).json), header: header)
        }
        let bytes = cached.map(\.count).reduce(0, +) / cached.count
        report.note("the signed transactions have \(bytes) bytes, as Apple's have")
        try compareWithOpenSSL(authority, cached, varied, &report)
        try compareWithApple(authority, cached, options, &report)
    }

    private static func compareWithOpenSSL(
        _ authority: SimulatedAuthority, _ cached: [[UInt8]], _ varied: [[UInt8]], _ report: inout BenchReport
    ) throws {
        let p256 = try RawVerification(.p256)
        let p384 = try RawVerification(.p384)
        var warm = try Subject(authority, cached)
        // More headers in turn than it keeps signers, the oldest leaving first: none is ever found.
        var cold = try Subject(authority, varied)
        let rates = try Interleaved.rates(
            rounds: rounds, slice: slice,
            [
                { try raw(p256, 50) }, { try warm.run(50) }, { try raw(p384, 5) }, { try cold.run(5) },
            ])
        let medians = rates.map { Statistics.median($0) ?? 0 }
        // Two signatures on certificates, one on the data.
        let limits = zip(rates[0], rates[2]).map { p256, p384 in 1 / (1 / p256 + 2 / p384) }
        report.add(
            Measurement(
                "verify_vs_openssl", Interleaved.ratio(rates[1], rates[0]), "", .atLeast(0.80),
                how: "\(rate(medians[1])) transactions, chain cached; \(rate(medians[0])) EVP_PKEY_verify P-256 alone"))
        report.add(
            Measurement(
                "verify_uncached_vs_limit", Interleaved.ratio(rates[3], limits), "", .atLeast(0.80),
                how: "\(rate(medians[3])) transactions, chain never seen; \(rate(Statistics.median(limits) ?? 0)) "
                    + "= two P-384 (\(rate(medians[2]))) + one P-256"))
        report.add(
            Measurement(
                "openssl_speed_p256", opensslSpeed() ?? 0, "/s",
                how: "`openssl speed ecdsap256`, a check of the P-256 number above"))
    }

    private static func compareWithApple(
        _ authority: SimulatedAuthority, _ cached: [[UInt8]], _ options: BenchOptions, _ report: inout BenchReport
    ) throws {
        let name = "verify_vs_apple_python"
        guard let python = options.applePython else {
            report.add(Measurement(name, .atLeast(20), notMeasured: options.applePythonMissing))
            return
        }
        let library = AppleLibrary(python: python, folder: options.folder)
        try library.prepare(authority, cached, bundleID: bundleID)
        var warm = try Subject(authority, cached)
        var ratios: [Double] = []
        var theirs: [Double] = []
        do {
            for _ in 0..<5 {
                let ours = try Interleaved.rates(rounds: 1, slice: slice, [{ try warm.run(50) }])[0][0]
                theirs.append(try library.rate())
                ratios.append(ours / (theirs.last ?? 0))
            }
        } catch let error as AppleLibrary.Unusable {
            report.add(Measurement(name, .atLeast(20), notMeasured: error.description))
            return
        }
        report.add(
            Measurement(
                name, Statistics.median(ratios) ?? 0, "", .atLeast(20),
                how: "app-store-server-library \(library.version), offline, same inputs and root: "
                    + "\(rate(Statistics.median(theirs) ?? 0)) on one core"))
        report.note("Apple's Swift library, for comparison, not measured here: about 300/s on a machine like this")
    }

    private static func transaction(_ number: Int) -> SimulatedTransaction {
        SimulatedTransaction(
            transactionID: "20000009\(10_000_000 + number)", bundleID: bundleID, productID: "coins_60",
            purchaseDate: now, appAccountToken: "3b7f0c2e-0d3a-4a38-9d1c-0123456789ab")
    }

    /// Everything is signed now.
    private static let now = WallClock.milliseconds()

    /// A verifier and what it has to verify.
    private struct Subject {
        private var verifier: SignedDataVerifier
        private let inputs: [[UInt8]]
        private var next = 0

        init(_ authority: SimulatedAuthority, _ inputs: [[UInt8]]) throws {
            let app = AcceptedApp(id: "bench", bundleIDs: [VerifyBench.bundleID])
            verifier = try SignedDataVerifier(apps: [app], roots: [authority.root])
            self.inputs = inputs
        }

        /// Verifies `count` transactions; every one must be genuine.
        mutating func run(_ count: Int) throws -> Int {
            for _ in 0..<count {
                guard case .verified(let verified) = try verifier.verifyTransaction(inputs[next], now: VerifyBench.now)
                else { throw WrongAnswer(description: "a genuine transaction was not verified") }
                _ = try verified.payload.purchase()
                next = (next + 1) % inputs.count
            }
            return count
        }
    }

    private static func raw(_ verification: RawVerification, _ count: Int) throws -> Int {
        for _ in 0..<count where !verification.run() {
            throw WrongAnswer(description: "OpenSSL refuses a signature it has just made")
        }
        return count
    }

    private static func rate(_ value: Double) -> String { "\(Int(value))/s" }

    /// Verifications a second as OpenSSL's own program measures them.
    private static func opensslSpeed() -> Double? {
        guard let output = Shell.output("openssl speed -mr -seconds 1 ecdsap256 2>/dev/null") else { return nil }
        // +F5:…:sign seconds:verify seconds:sign/s:verify/s in newer versions, seconds only in 3.0.
        guard let line = output.split(separator: "\n").first(where: { $0.hasPrefix("+F") }) else { return nil }
        let fields = line.split(separator: ":").compactMap { Double($0) }
        guard let last = fields.last, last > 0 else { return nil }
        return last < 1 ? 1 / last : last
    }
}
