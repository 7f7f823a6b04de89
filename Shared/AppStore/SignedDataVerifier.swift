public import Crypto
public import JOSE
public import JSON

/// Verifies what Apple signed. The one way into the system for every purchase, notification and receipt of this kind.
///
/// Order: sizes, form, signature with the leaf's still untrusted key, payload, chain at the signed date, claims.
/// Nothing is parsed beyond the header before the signature holds, and no chain is built for a stranger's data
/// that is not even signed by the key it brings. The signer of a verified chain is kept, with its key ready, and
/// found by the header's raw text: then one P-256 verification is all that remains.
///
/// A value belongs to one thread. There is no mode that skips anything.
public struct SignedDataVerifier {
    /// What may be adjusted.
    public struct Configuration: Sendable {
        /// Limits for transactions, renewal info and app transactions.
        public var limits = CompactJWS.Limits()
        /// Bytes of a notification, which holds other signed data.
        public var maximumNotificationBytes = 256 << 10
        /// Accepted quantities; StoreKit allows 10, larger numbers than 100 are a mistake or an attack.
        public var quantities: ClosedRange<Int64> = 1...100
        /// How far ahead of now data may be dated, in ms: five minutes for clocks that differ.
        public var futureTolerance: Int64 = 300_000
        /// Signers kept; Apple uses one or two at a time.
        public var cacheCapacity = 64
        /// The values the system uses.
        public init() {}
    }

    /// Data whose signature and chain are good, and whose claims nobody has looked at.
    public struct Authenticated: Sendable {
        /// Told by its fields; nil for a kind nobody knows.
        public let kind: PayloadKind?
        /// The decoded JSON.
        public let object: JSONObject
        /// The signed bytes.
        public let evidence: SignedEvidence
        /// When it was signed, in ms since 1970.
        public let signedDate: Int64?
        /// Who signed.
        public let signer: SignerInfo

        /// The bundle id the data names, wherever its kind has it; compared with nothing yet.
        public var bundleID: String? {
            let places = ["data", "summary", "externalPurchaseToken", "appData"]
            let owner = kind == .notification ? places.lazy.compactMap { object[$0]?.objectValue }.first : object
            return owner?["bundleId"]?.stringValue
        }
    }

    let apps: AcceptedApps
    let configuration: Configuration
    private let chains: ChainVerifier
    private var cache: VerifiedSignerCache
    /// That of the last chain that verified.
    private var intermediate: Certificate?

    /// Accepts data for `apps`, signed under `roots`: Apple's, unless a test or the local stand-in brings its own.
    public init(
        apps: [AcceptedApp], roots: [Certificate], configuration: Configuration = Configuration()
    ) throws(CryptoError) {
        self.apps = AcceptedApps(apps)
        self.configuration = configuration
        chains = try ChainVerifier(roots: roots)
        cache = VerifiedSignerCache(capacity: configuration.cacheCapacity)
    }

    /// Accepts data for `apps`, signed under Apple's pinned roots.
    public init(apps: [AcceptedApp], configuration: Configuration = Configuration()) throws(CryptoError) {
        try self.init(apps: apps, roots: try AppleRoots.certificates(), configuration: configuration)
    }

    /// Signers kept at the moment.
    public var cachedSigners: Int { cache.count }

    /// Checks everything but the claims; `now` is in ms since 1970.
    ///
    /// With `expected`, data of another kind is refused and the date is read from that kind's field.
    public mutating func authenticate(
        _ bytes: [UInt8], as expected: PayloadKind? = nil, now: Int64
    ) throws(VerificationFailure) -> Authenticated {
        let jws = try cut(bytes, expected)
        if let signer = cache.signer(for: jws.headerSegment) {
            return try authenticate(jws, signer: signer, as: expected, now: now) { (time) throws(VerificationFailure) in
                // A hit compares the date like a miss does.
                guard signer.validity.contains(time, skew: TrustStore.clockSkew) else {
                    throw VerificationFailure(
                        .chainTime, .validity,
                        "signed at \(UTCTime.text(time)), but its certificates are valid from "
                            + "\(UTCTime.text(signer.validity.notBefore)) to \(UTCTime.text(signer.validity.notAfter))")
                }
            }
        }
        let (leaf, intermediate) = try chains.certificates(x5c: Self.x5c(of: jws), known: self.intermediate)
        let stranger = try Self.signer(
            of: jws, SignerChain(leaf: leaf, intermediate: intermediate), key: chains.key(of: leaf))
        let result = try authenticate(jws, signer: stranger, as: expected, now: now) {
            (time) throws(VerificationFailure) in
            stranger.validity = try chains.verify(leaf: leaf, intermediate: intermediate, at: time).validity
        }
        // Only here: whatever failed before, its signer is forgotten. Bad claims under a good chain come later.
        cache.insert(stranger)
        self.intermediate = intermediate
        return result
    }

    private static func signer(
        of jws: CompactJWS, _ chain: SignerChain, key: P256.PublicKey
    ) throws(VerificationFailure) -> VerifiedSigner {
        do {
            return try VerifiedSigner(headerSegment: Array(jws.headerSegment), key: key, chain: chain)
        } catch {
            throw VerificationFailure(.unavailable, .signature, "\(error)")
        }
    }

    private func cut(_ bytes: [UInt8], _ expected: PayloadKind?) throws(VerificationFailure) -> CompactJWS {
        var limits = configuration.limits
        if expected == .notification { limits.maximumBytes = configuration.maximumNotificationBytes }
        do {
            return try CompactJWS(bytes, limits: limits)
        } catch {
            if case .tooLarge = error { throw VerificationFailure(.tooLarge, .size, "\(error)") }
            throw VerificationFailure(.format, .format, "\(error)")
        }
    }

    /// The certificates' texts, after the checks of the header.
    private static func x5c(of jws: CompactJWS) throws(VerificationFailure) -> [String] {
        let header: JSONObject
        do {
            header = try jws.decodeHeader()
        } catch {
            if case .missingAlgorithm = error { throw VerificationFailure(.alg, .algorithm, "\(error)") }
            throw VerificationFailure(.format, .format, "\(error)")
        }
        guard header["alg"] == "ES256" else {
            throw VerificationFailure(.alg, .algorithm, "alg is \(quoted(header["alg"]?.stringValue ?? "")), not ES256")
        }
        do {
            return try header.optionalStrings("x5c") ?? []
        } catch {
            throw VerificationFailure(.certificate, .certificates, "x5c is not a list of texts")
        }
    }

    /// Signature, payload, date, chain (by `checkChain`, at seconds since 1970), clock.
    private func authenticate(
        _ jws: CompactJWS, signer: VerifiedSigner, as expected: PayloadKind?, now: Int64,
        checkChain: (Int64) throws(VerificationFailure) -> Void
    ) throws(VerificationFailure) -> Authenticated {
        let signature = try Self.verifiedSignature(of: jws, by: signer)
        let payload: [UInt8]
        let object: JSONObject
        do {
            payload = try jws.decodePayload()
        } catch {
            throw VerificationFailure(.format, .payload, "\(error)")
        }
        do {
            object = try JSONReader.parseObject(payload)
        } catch {
            throw VerificationFailure(.format, .payload, "the payload is not acceptable JSON (\(error))")
        }
        let kind = PayloadKind.detect(object)
        let fields = PayloadFields(object: object, now: now, check: .payload)
        // Data that does not say when it was signed is judged at now.
        let signedDate = try fields.date((kind ?? .transaction).signedDateField)
        try checkChain((signedDate ?? now) / 1000)
        if let signedDate, signedDate > now.addingReportingOverflow(configuration.futureTolerance).partialValue {
            throw VerificationFailure(
                .signedDateInFuture, .clock,
                "signed at \(UTCTime.text(signedDate / 1000)), here it is \(UTCTime.text(now / 1000))")
        }
        if let expected, kind != expected {
            let found = kind?.rawValue ?? "none of the known kinds"
            throw VerificationFailure(.payloadType, .kind, "expected \(expected.rawValue), found \(found)")
        }
        let evidence = SignedEvidence(
            headerSegment: signer.headerSegment, payload: payload, signature: signature,
            payloadSHA256: SHA256.hash(payload))
        let info = SignerInfo(
            subject: signer.leaf.subject, serialNumber: signer.leaf.serialNumber, validUntil: signer.validity.notAfter,
            chain: signer.chain)
        return Authenticated(kind: kind, object: object, evidence: evidence, signedDate: signedDate, signer: info)
    }

    private static func verifiedSignature(
        of jws: CompactJWS, by signer: VerifiedSigner
    ) throws(VerificationFailure) -> [UInt8] {
        let signature: [UInt8]
        do {
            signature = try jws.decodeSignature()
        } catch {
            throw VerificationFailure(.format, .signature, "\(error)")
        }
        guard signature.count == P256.signatureByteCount else {
            throw VerificationFailure(.signature, .signature, "it has \(signature.count) bytes instead of 64")
        }
        guard signer.isValidSignature(signature, of: jws) else {
            throw VerificationFailure(.signature, .signature, "it does not fit the data and the certificate's key")
        }
        return signature
    }
}
