import AppStoreSimulation
import Crypto
import JOSE
import JSON
import Testing

@testable import AppStore

/// Attacks on the certificates.
@Suite struct ChainThreatTests {
    /// Why a transaction signed by `authority` is refused under `root` (its own if nil).
    static func refusal(
        by authority: SimulatedAuthority, root: Certificate? = nil, signedDate: Int64? = nil, x5c: [String]? = nil
    ) throws -> VerificationFailure.Reason? {
        var verifier = try SignedDataVerifier(apps: [World.app], roots: [root ?? authority.root])
        var transaction = World.transaction()
        transaction.signedDate = signedDate
        let jws = try TransactionSigner(authority).sign(
            payload: JSONWriter.write(transaction.json),
            header: TransactionSigner.header(x5c: x5c ?? authority.x5c))
        do throws(VerificationFailure) {
            _ = try verifier.verifyTransaction(jws, now: World.now)
            return nil
        } catch {
            #expect(verifier.cachedSigners == 0, "a refused chain must not be kept")
            return error.reason
        }
    }

    @Test func `an authority with the same names and key ids is a stranger (S02)`() throws {
        let ours = try World.shared.get()
        let keyIdentifiers = ["2.5.29.14", "2.5.29.35"]
        let foreign = try SimulatedAuthority.generate { _, builder in
            // The same identifiers in every certificate, so that only the keys differ.
            for (index, item) in builder.extensions.enumerated() where keyIdentifiers.contains(item.identifier) {
                let value = [UInt8](repeating: 7, count: 20)
                builder.extensions[index].value =
                    (item.identifier == "2.5.29.14" ? [4, 20] : [0x30, 22, 0x80, 20]) + value
            }
        }
        #expect(foreign.root.subject == ours.root.subject)
        #expect(try Self.refusal(by: foreign, root: ours.root) == .chainUntrusted)
        #expect(try Self.refusal(by: foreign) == nil)
        // Our root in the third place, or our intermediate in the second, changes nothing.
        let mixed = [foreign.leaf, foreign.intermediate, ours.root].map { Base64.encode($0.der) }
        #expect(try Self.refusal(by: foreign, root: ours.root, x5c: mixed) == .chainUntrusted)
        let grafted = [foreign.leaf, ours.intermediate, ours.root].map { Base64.encode($0.der) }
        #expect(try Self.refusal(by: foreign, root: ours.root, x5c: grafted) == .chainUntrusted)
    }

    @Test func `the third certificate is never used for trust (S02)`() throws {
        let ours = try World.shared.get()
        let foreign = try SimulatedAuthority.generate()
        let swapped = [ours.leaf, ours.intermediate, foreign.root].map { Base64.encode($0.der) }
        #expect(try Self.refusal(by: ours, x5c: swapped) == nil)
        #expect(try Self.refusal(by: ours, root: foreign.root, x5c: swapped) == .chainUntrusted)
    }

    @Test(arguments: [0, 1, 2, 4, 100])
    func `exactly three certificates (S03)`(count: Int) throws {
        let ours = try World.shared.get()
        let x5c = (0..<count).map { ours.x5c[min($0, 2)] }
        let expected: VerificationFailure.Reason = count == 100 ? .tooLarge : .chainLength
        #expect(try Self.refusal(by: ours, x5c: x5c) == expected)
    }

    @Test func `no order but leaf, intermediate, anything is accepted (S03)`() throws {
        let ours = try World.shared.get()
        for first in 0..<3 {
            for second in 0..<3 {
                for third in 0..<3 {
                    let x5c = [ours.x5c[first], ours.x5c[second], ours.x5c[third]]
                    let reason = try Self.refusal(by: ours, x5c: x5c)
                    #expect((reason == nil) == (first == 0 && second == 1), "order \(first) \(second) \(third)")
                }
            }
        }
    }

    @Test func `a leaf cannot be its own issuer (S03)`() throws {
        let ours = try World.shared.get()
        let key = try P256.PrivateKey.generate()
        let lonely = try CertificateBuilder(
            commonName: "App Store Simulator leaf", organization: "App Store Simulator", serialNumber: [1],
            validity: SimulatedAuthority.defaultValidity, subjectKey: .p256(key.publicKey()),
            extensions: [
                .init(identifier: ChainVerifier.leafMarker, value: [5, 0]),
                .init(identifier: ChainVerifier.intermediateMarker, value: [5, 0]),
            ]
        ).signed(by: .p256(key))
        let authority = SimulatedAuthority(root: lonely, intermediate: lonely, leaf: lonely, leafKey: key)
        #expect(try Self.refusal(by: authority, root: ours.root) == .chainUntrusted)
        // Even as a trusted root it is no chain of three.
        #expect(try Self.refusal(by: authority) == .chainUntrusted)
    }

    static let defects:
        [(String, SimulatedAuthority.Storey, VerificationFailure.Reason, @Sendable (inout CertificateBuilder) -> Void)] =
            [
                ("leaf without mark", .leaf, .chainOID, { $0.remove(ChainVerifier.leafMarker) }),
                (
                    "intermediate without mark", .intermediate, .chainOID,
                    { $0.remove(ChainVerifier.intermediateMarker) }
                ),
                (
                    "leaf with the intermediate's mark", .leaf, .chainOID,
                    {
                        $0.remove(ChainVerifier.leafMarker)
                        $0.extensions.append(.init(identifier: ChainVerifier.intermediateMarker, value: [5, 0]))
                    }
                ),
                (
                    "intermediate is no authority", .intermediate, .chainUntrusted,
                    { $0.extensions[0] = .basicConstraints(isAuthority: false) }
                ),
                ("intermediate without constraints", .intermediate, .chainUntrusted, { $0.remove("2.5.29.19") }),
                (
                    "intermediate may not sign certificates", .intermediate, .chainUntrusted,
                    { $0.extensions[1] = .keyUsage([.digitalSignature]) }
                ),
                ("leaf may not sign data", .leaf, .chainUntrusted, { $0.extensions[1] = .keyUsage([.listSign]) }),
                (
                    "leaf is an authority", .leaf, .chainUntrusted,
                    { $0.extensions[0] = .basicConstraints(isAuthority: true) }
                ),
                (
                    "root allows no intermediate", .root, .chainUntrusted,
                    { $0.extensions[0] = .basicConstraints(isAuthority: true, pathLength: 0) }
                ),
                (
                    "leaf with an unknown critical extension", .leaf, .chainUntrusted,
                    { $0.extensions.append(.init(identifier: "1.2.3.4.5", isCritical: true, value: [5, 0])) }
                ),
            ]

    @Test(arguments: defects.indices)
    func `each single defect of a chain is refused by itself (S04)`(index: Int) throws {
        let (name, storey, reason, change) = Self.defects[index]
        let authority = try SimulatedAuthority.generate { built, builder in if built == storey { change(&builder) } }
        #expect(try Self.refusal(by: authority) == reason, "\(name)")
    }

    @Test func `an Apple developer's certificate does not sign purchases (S04)`() throws {
        // Such a leaf hangs under the same intermediate, but has neither mark nor the right to be one.
        let authority = try SimulatedAuthority.generate { storey, builder in
            guard storey == .leaf else { return }
            builder.commonName = "Apple Development: Somebody"
            builder.remove(ChainVerifier.leafMarker)
            builder.extensions.append(.init(identifier: "1.2.840.113635.100.6.1.2", value: [5, 0]))
        }
        #expect(try Self.refusal(by: authority) == .chainOID)
    }

    @Test func `a signing key that is not on P-256 is refused before it is used`() throws {
        let key = try P384.PrivateKey.generate().publicKey()
        let authority = try SimulatedAuthority.generate { storey, builder in
            if storey == .leaf { builder.subjectKey = .p384(key) }
        }
        #expect(try Self.refusal(by: authority) == .key)
    }

    @Test(arguments: SimulatedAuthority.Storey.allCases)
    func `certificates count at the signed date, to the second and with a minute of tolerance (S05)`(
        storey: SimulatedAuthority.Storey
    ) throws {
        let start: Int64 = 1_790_000_000
        let end: Int64 = 1_795_000_000
        let authority = try SimulatedAuthority.generate { built, builder in
            if built == storey { builder.validity = .init(notBefore: start, notAfter: end) }
        }
        let table: [(Int64, VerificationFailure.Reason?)] = [
            (start - 61, .chainTime), (start - 60, nil), (start - 1, nil), (start, nil), (start + 1, nil),
            (end - 1, nil), (end, nil), (end + 1, nil), (end + 60, nil), (end + 61, .chainTime),
        ]
        for (seconds, reason) in table {
            let found = try Self.refusal(by: authority, signedDate: seconds * 1000)
            #expect(found == reason, "\(seconds - start) s after the start, \(seconds - end) s after the end")
        }
        // Now is later than all of it: old statements stay good after their certificates have ended.
        #expect(World.now / 1000 > end + 61)
    }

    @Test func `a known signer's dates are compared at every use (S05)`() throws {
        let start: Int64 = 1_790_000_000
        let authority = try SimulatedAuthority.generate { storey, builder in
            if storey == .leaf { builder.validity.notBefore = start }
        }
        var verifier = try SignedDataVerifier(apps: [World.app], roots: [authority.root])
        let signer = TransactionSigner(authority)
        _ = try verifier.verifyTransaction(signer.sign(World.transaction()), now: World.now)
        #expect(verifier.cachedSigners == 1)
        var old = World.transaction()
        for (seconds, isGood) in [(start - 61, false), (start - 60, true)] {
            old.signedDate = seconds * 1000
            let jws = try signer.sign(old)
            if isGood {
                #expect(throws: Never.self) { try verifier.verifyTransaction(jws, now: World.now) }
            } else {
                let error = #expect(throws: VerificationFailure.self) {
                    try verifier.verifyTransaction(jws, now: World.now)
                }
                #expect(error?.reason == .chainTime)
            }
        }
    }
}

extension CertificateBuilder {
    /// Takes an extension out.
    mutating func remove(_ identifier: String) { extensions.removeAll { $0.identifier == identifier } }
}
