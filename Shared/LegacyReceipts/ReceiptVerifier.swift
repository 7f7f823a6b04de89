public import AppStore
public import Crypto

/// Verifies app receipts, the purchase evidence from before StoreKit 2, without asking Apple.
///
/// Order: size, form, signature with the signer's still untrusted key, content, chain at the time the receipt was made
/// (not now: its signer's certificate ends two years after, its purchases do not), Apple's marks, clock, app,
/// environment. Any thread.
public struct ReceiptVerifier: Sendable {
    /// How far ahead of now a receipt may be dated, in ms: five minutes for clocks that differ.
    public static let futureTolerance: Int64 = 300_000
    /// Strength in bits of SHA-1: the chain of receipts made before 2023 has it; less is refused.
    static let minimumSecurityBits = 63
    /// 2008-01-01, before which there was no App Store, in ms.
    static let earliestDate: Int64 = 1_199_145_600_000

    private let apps: AcceptedApps
    private let chains: ChainVerifier

    /// Accepts receipts for `apps`, signed under `roots`.
    public init(apps: [AcceptedApp], roots: [Certificate]) throws(CryptoError) {
        self.apps = AcceptedApps(apps)
        chains = try ChainVerifier(roots: roots)
    }

    /// Accepts receipts for `apps`, signed under Apple's pinned roots.
    public init(apps: [AcceptedApp]) throws(CryptoError) {
        try self.init(apps: apps, roots: try AppleRoots.certificates())
    }

    /// Verifies a receipt's bytes (see ``ReceiptText``); `now` in ms since 1970.
    public func verify(_ bytes: [UInt8], now: Int64) throws(VerificationFailure) -> VerifiedReceipt {
        let (receipt, signer, content) = try authenticate(bytes, now: now)
        return try accept(receipt, from: signer, contentSHA256: content, bytes: bytes)
    }

    /// Judges what Apple itself says about a receipt by the same claims: app, Apple's number, environment, dates.
    ///
    /// - Parameters:
    ///   - environment: as Apple says it beside the receipt; it must be that of the receipt.
    ///   - bytes: the container that Apple was asked about.
    public func verify(
        answered receipt: AppReceipt, environment: String?, about bytes: [UInt8], now: Int64
    ) throws(VerificationFailure) -> VerifiedReceipt {
        guard receipt.environment == environment else {
            throw VerificationFailure(
                .environmentMismatch, .environment, "Apple's answer names two environments, or none")
        }
        try Self.checkDate(receipt)
        try Self.checkClock(receipt, now: now)
        return try accept(receipt, from: nil, contentSHA256: SHA256.hash(bytes), bytes: bytes)
    }

    /// What no signature can tell: whether it is for us.
    private func accept(
        _ receipt: AppReceipt, from signer: SignerInfo?, contentSHA256 content: [UInt8], bytes: [UInt8]
    ) throws(VerificationFailure) -> VerifiedReceipt {
        let app = try apps.app(bundleID: receipt.bundleID)
        let environment = try apps.environment(receipt.environment, for: app)
        // The sandbox writes 0, and old receipts nothing.
        if let number = receipt.appItemID, number != 0 {
            try AcceptedApps.check(appAppleID: number, of: app, in: environment)
        }
        return VerifiedReceipt(
            receipt: receipt, environment: environment, appID: app.id, signer: signer,
            contentSHA256: content, bytes: bytes)
    }

    /// Everything but the claims: what Apple's own answer calls a receipt that could be authenticated.
    public func authenticate(
        _ bytes: [UInt8], now: Int64
    ) throws(VerificationFailure) -> (receipt: AppReceipt, signer: SignerInfo, contentSHA256: [UInt8]) {
        guard bytes.count <= ReceiptText.maximumBytes else {
            throw VerificationFailure(
                .tooLarge, .size, "it has \(bytes.count) bytes, at most \(ReceiptText.maximumBytes) are accepted")
        }
        let container = try SignedContainer(bytes)
        let leaf = try Self.certificate(container.signer, "the signer's certificate")
        try Self.checkSignature(of: container, by: leaf)
        let receipt = try AppReceipt(container.content)
        try Self.checkDate(receipt)
        let chain = try chain(of: container, leaf: leaf, at: receipt.creationDate / 1_000)
        try Self.checkClock(receipt, now: now)
        let signer = SignerInfo(
            subject: leaf.subject, serialNumber: leaf.serialNumber, validUntil: chain.validity.notAfter,
            chain: SignerChain(leaf: leaf, intermediate: chain.certificates.dropFirst().first ?? leaf))
        return (receipt, signer, SHA256.hash(container.content))
    }

    private static func checkDate(_ receipt: AppReceipt) throws(VerificationFailure) {
        guard receipt.creationDate >= earliestDate else {
            throw .field("receipt_creation_date", "is before 2008", .payload)
        }
    }

    private static func checkClock(_ receipt: AppReceipt, now: Int64) throws(VerificationFailure) {
        guard receipt.creationDate <= now.addingReportingOverflow(futureTolerance).partialValue else {
            throw VerificationFailure(
                .signedDateInFuture, .clock,
                "made at \(UTCTime.text(receipt.creationDate / 1_000)), here it is \(UTCTime.text(now / 1_000))")
        }
    }

    private static func certificate(
        _ der: ArraySlice<UInt8>, _ role: String
    ) throws(VerificationFailure) -> Certificate {
        let certificate: Certificate
        do {
            certificate = try Certificate(der: Array(der))
        } catch {
            throw VerificationFailure(.certificate, .certificates, "\(role) is \(error)")
        }
        guard certificate.signatureSecurityBits >= minimumSecurityBits else {
            throw VerificationFailure(.certificate, .certificates, "\(role) is signed with a weak algorithm")
        }
        return certificate
    }

    private static func checkSignature(
        of container: SignedContainer, by leaf: Certificate
    ) throws(VerificationFailure) {
        let key: RSA.PublicKey
        do {
            key = try leaf.rsaPublicKey()
        } catch {
            throw VerificationFailure(.key, .certificates, "\(error)")
        }
        do {
            if let named = container.namedDigest {
                guard try container.digest.hash(container.content).elementsEqual(named) else {
                    throw VerificationFailure(.signature, .signature, "the signed digest is not that of the content")
                }
            }
            let signed = container.signedAttributes.map { $0[...] } ?? container.content
            guard try key.isValidSignature(container.signature, for: signed, digest: container.digest) else {
                throw VerificationFailure(
                    .signature, .signature, "it does not fit the content and the certificate's key")
            }
        } catch let failure as VerificationFailure {
            throw failure
        } catch {
            throw VerificationFailure(.unavailable, .signature, "\(error)")
        }
    }

    private func chain(
        of container: SignedContainer, leaf: Certificate, at time: Int64
    ) throws(VerificationFailure) -> CertificateChain {
        var others: [Certificate] = []
        for (place, der) in container.others.enumerated() {
            others.append(try Self.certificate(der, "certificate \(place + 1) beside the signer's"))
        }
        return try chains.verify(leaf: leaf, intermediates: others, at: time)
    }
}
