import AppStore
import AppStoreSimulation
import Crypto
import JOSE
import LegacyReceipts
import TestSupport

/// App receipts: as clients send them, as bytes, and with contents that a stranger signed himself.
///
/// What is accepted must say what was signed.
struct ReceiptTarget: FuzzTarget {
    let seeds: [[UInt8]]
    let words = [
        "\u{30}\u{80}", "\u{0}\u{0}", "\u{24}\u{80}", "\u{2}\u{1}\u{11}", "\u{2}\u{2}\u{6}\u{A7}", "\u{31}\u{0}",
        "\u{4}\u{82}\u{7F}\u{FF}", "{\"Store\":\"AppleAppStore\",\"Payload\":\"", "\"}", "ProductionSandbox",
        "2026-11-30T12:34:56Z", "0000-00-00T99:99:99+99:99",
    ]
    private let verifier: ReceiptVerifier
    private let signer: ReceiptSigner
    /// What was signed, by Apple or by the authority.
    private let genuine: [AppReceipt]
    private static let now: Int64 = 1_796_083_200_000
    private static let bundleID = "com.example.game"

    init(_ files: FuzzFiles) throws {
        let authority = try SimulatedAuthority.loadOrGenerate(in: files.state)
        guard let receipts = authority.receipts else {
            throw CryptoError.invalidKey(reason: "the fuzzer's authority signs no receipts: remove \(files.state)")
        }
        let app = AcceptedApp(id: "game", bundleIDs: [Self.bundleID])
        signer = ReceiptSigner(receipts)
        verifier = try ReceiptVerifier(apps: [app], roots: try AppleRoots.certificates() + [authority.root])
        var made: [[UInt8]] = []
        for count in [0, 1, 3, 200] {
            var form = ReceiptSigner.Form()
            form.isIndefinite = count == 1
            form.hasSignedAttributes = count == 3
            made.append(try signer.sign(Self.receipt(count), form))
        }
        let kept = FileBytes.folder("\(files.fixtures)/receipts").filter { $0.name.hasSuffix(".b64") }.map(\.bytes)
        let decoded = kept.compactMap { Base64.decode($0.filter { $0 > 0x20 }[...]) }
        let verifier = verifier
        genuine = (made + decoded).compactMap { try? verifier.authenticate($0, now: Self.now).receipt }
        seeds =
            made + made.map { Array(Base64.encode($0).utf8) } + kept + decoded
            + [0, 1, 3, 200].map { Self.receipt($0).content } + files.corpus("receipt")
    }

    private static func receipt(_ count: Int) -> SimulatedReceipt {
        let purchases = (0..<count).map {
            SimulatedReceipt.Purchase(
                transactionID: "\(1_000_000 + $0)", productID: "gems_\($0 % 4)", purchaseDate: now - 60_000,
                quantity: Int64($0 % 3 + 1), cancellationDate: $0 % 5 == 4 ? now : nil)
        }
        return SimulatedReceipt(bundleID: bundleID, creationDate: now - 1_000, purchases: purchases)
    }

    mutating func run(_ input: [UInt8]) throws(Violation) -> Bool {
        var isAccepted = try isGenuine(input)
        if let text = try? ReceiptText(input), case .receipt(let bytes) = text {
            isAccepted = try isGenuine(bytes) || isAccepted
        }
        // The same bytes as the content of a receipt that is signed well: its reader must stand everything.
        if input.first == 0x31, input.count < 64 << 10, let signed = try? signer.sign(content: input),
            let receipt = try? verifier.authenticate(signed, now: Self.now).receipt
        {
            isAccepted = true
            try Violation.unless(
                receipt.purchases.allSatisfy { (1...100).contains($0.quantity) && !$0.transactionID.isEmpty },
                "a purchase without number or with a quantity out of range was read")
        }
        return isAccepted
    }

    private func isGenuine(_ bytes: [UInt8]) throws(Violation) -> Bool {
        _ = try? verifier.verify(bytes, now: Self.now)
        guard let receipt = try? verifier.authenticate(bytes, now: Self.now).receipt else { return false }
        try Violation.unless(genuine.contains(receipt), "a receipt was accepted that nobody signed")
        return true
    }
}
