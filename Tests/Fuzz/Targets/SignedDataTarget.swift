import AppStore
import AppStoreSimulation
import Crypto
import JOSE
import JSON

/// Compact JWS, certificate chain and claims: the production verifier under a simulated authority.
///
/// A part of the inputs is signed anew after it was damaged, as a compromised signer would, so that what stands behind the
/// signature is tried too. Whatever is accepted must really be signed, be written in the one canonical way, and be
/// something that was signed here.
struct SignedDataTarget: FuzzTarget {
    let seeds: [[UInt8]]
    let words = [
        ".", "..", "=", "-", "_", "e30", "eyJhbGciOiJub25lIn0", "eyJhbGciOiJFUzI1NiJ9", "AAAA", "\"alg\":\"none\"",
        "\"alg\":\"HS256\"", "\"crit\":[\"exp\"]", "\"b64\":false", "\"x5c\":[]", "\"jwk\":{}", "\"kid\":\"../../x\"",
        "\"bundleId\":\"com.example.other\"", "\"environment\":\"Xcode\"", "[[[[[[[[", "\\u0000",
    ]
    private let authority: SimulatedAuthority
    private let signer: TransactionSigner
    private let leafKey: P256.PublicKey
    private var verifier: SignedDataVerifier
    /// Header and payload of the seeds as sent, and of what was signed last: everything that is tried comes from these.
    private var signed: Set<[UInt8]> = []
    private var signedLast: [UInt8] = []
    /// Whether `signed` is complete: a replay knows one input only.
    private let knowsAll: Bool

    private static let now: Int64 = 1_796_083_200_000
    private static let app = AcceptedApp(id: "game", bundleIDs: ["com.example.game"], appAppleID: 1_234)

    init(_ files: FuzzFiles, isReplay: Bool = false) throws {
        authority = try SimulatedAuthority.loadOrGenerate(in: files.state)
        signer = TransactionSigner(authority)
        leafKey = try authority.leafKey.publicKey()
        verifier = try SignedDataVerifier(apps: [Self.app], roots: [authority.root])
        knowsAll = !isReplay
        var transaction = SimulatedTransaction(
            transactionID: "2000000000000001", bundleID: "com.example.game", productID: "com.example.game.coins",
            purchaseDate: Self.now - 60_000)
        var genuine = [try signer.sign(transaction)]
        transaction.appAccountToken = "7e3fb20b-4cdb-47cc-936d-99d65f608138"
        transaction.revocationDate = Self.now - 30_000
        transaction.revocationReason = 1
        genuine.append(try signer.sign(transaction))
        let notification = SimulatedNotification(
            type: "ONE_TIME_CHARGE", uuid: "002e14d5-51f5-4503-b5a8-c3a1af68eb20", bundleID: "com.example.game",
            appAppleID: 1_234, signedDate: Self.now - 1_000)
        genuine.append(try signer.sign(notification))
        let strangers = FileBytes.folder("\(files.fixtures)/apple/mock_signed_data").map(\.bytes)
        seeds =
            genuine + genuine.compactMap { TransactionSigner.malleableTwin(of: $0) } + strangers + files.corpus("jws")
        signed = Set(seeds.map(Self.covered))
    }

    private static func covered(_ jws: [UInt8]) -> [UInt8] {
        (try? CompactJWS(jws)).map { Array($0.signingInput) } ?? []
    }

    mutating func make(from seed: [UInt8], by mutator: inout Mutator) -> [UInt8] {
        guard let parts = try? CompactJWS(seed), let payload = try? parts.decodePayload(),
            let header = Base64URL.decode(parts.headerSegment), let signature = try? parts.decodeSignature()
        else { return mutator.damage(seed, words) }
        switch mutator.number(0..<6) {
        case 0: return mutator.damage(seed, words)
        case 1:
            return CompactJWS.assemble(
                headerSegment: Base64URL.encode(mutator.damage(header, words)), payload: payload, signature: signature)
        case 2:
            return CompactJWS.assemble(
                headerSegment: Array(parts.headerSegment), payload: mutator.damage(payload, words), signature: signature
            )
        case 3:
            return CompactJWS.assemble(
                headerSegment: Array(parts.headerSegment), payload: payload, signature: mutator.damage(signature))
        default: return signAnew(header, payload, by: &mutator)
        }
    }

    /// Damages what is inside, then signs it with the genuine key.
    private mutating func signAnew(_ header: [UInt8], _ payload: [UInt8], by mutator: inout Mutator) -> [UInt8] {
        var changed = payload
        if mutator.chance(3) {
            changed = mutator.damage(payload, words)
        } else if let value = try? JSONReader.parse(payload) {
            var damage = JSONDamage(mutator: mutator)
            changed = JSONWriter.write(damage.change(value))
            mutator = damage.mutator
        }
        let head = mutator.chance(3) ? mutator.damage(header, words) : header
        guard let jws = try? signer.sign(payload: changed, headerSegment: Base64URL.encode(head)) else { return [] }
        signedLast = Self.covered(jws)
        return jws
    }

    mutating func run(_ input: [UInt8]) throws(Violation) -> Bool {
        var isAccepted = false
        if case .verified(let verified) = try? verifier.verifyTransaction(input, now: Self.now) {
            isAccepted = true
            try check(input, verified.evidence)
            try Violation.unless(verified.appID == "game", "another app's transaction was accepted")
            let payload = verified.payload
            try Violation.unless((1...100).contains(payload.quantity), "a quantity of \(payload.quantity) was accepted")
            try Violation.unless(
                (payload.transactionID ?? "").utf8.allSatisfy { (0x30...0x39).contains($0) },
                "an id that is no number was accepted")
        }
        if let verified = try? verifier.verifyNotification(input, now: Self.now) {
            isAccepted = true
            try check(input, verified.notification.evidence)
        }
        try Violation.unless(verifier.cachedSigners <= 64, "\(verifier.cachedSigners) signers are kept")
        return isAccepted
    }

    private func check(_ input: [UInt8], _ evidence: SignedEvidence) throws(Violation) {
        try Violation.unless(evidence.jws() == input, "what was accepted is not the one text for its content")
        let covered = Self.covered(input)
        try Violation.unless(
            leafKey.isValidSignature(evidence.signature, for: covered), "accepted without a valid signature")
        let isKnown = signed.contains(covered) || covered == signedLast
        if knowsAll { try Violation.unless(isKnown, "accepted, but never signed") }
    }
}
