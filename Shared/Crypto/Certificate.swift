import COpenSSL

/// One X.509 certificate (RFC 5280), parsed once into plain values. Immutable; any thread.
///
/// Parsing says nothing about trust: see ``TrustStore``.
public final class Certificate: Sendable {
    /// The bits of the key usage extension that matter here (RFC 5280 §4.2.1.3).
    public struct KeyUsage: OptionSet, Sendable {
        /// Bits in OpenSSL's order.
        public let rawValue: UInt32
        /// Takes bits in OpenSSL's order.
        public init(rawValue: UInt32) { self.rawValue = rawValue }
        /// May sign data.
        public static let digitalSignature = KeyUsage(rawValue: 0x0080)
        /// May sign certificates.
        public static let certificateSign = KeyUsage(rawValue: 0x0004)
        /// May sign revocation lists.
        public static let listSign = KeyUsage(rawValue: 0x0002)
    }

    /// The seconds since 1970 in which a certificate is valid, both ends included.
    public struct Validity: Sendable, Equatable {
        /// First valid second.
        public var notBefore: Int64
        /// Last valid second.
        public var notAfter: Int64
        /// Both ends in seconds since 1970.
        public init(notBefore: Int64, notAfter: Int64) {
            self.notBefore = notBefore
            self.notAfter = notAfter
        }
        /// Whether `time` lies inside, with `skew` seconds of tolerance at both ends.
        public func contains(_ time: Int64, skew: Int64 = 0) -> Bool {
            let early = notBefore.subtractingReportingOverflow(skew)
            let late = notAfter.addingReportingOverflow(skew)
            return (early.overflow || time >= early.partialValue) && (late.overflow || time <= late.partialValue)
        }
        /// The time in which both are valid (possibly empty: notBefore after notAfter).
        public func intersection(_ other: Validity) -> Validity {
            Validity(notBefore: max(notBefore, other.notBefore), notAfter: min(notAfter, other.notAfter))
        }
    }

    /// The bytes the certificate was read from.
    public let der: [UInt8]
    /// Serial number, lower-case hexadecimal.
    public let serialNumber: String
    /// Subject name as OpenSSL's one line, for example `/CN=…/O=…`.
    public let subject: String
    /// Issuer name in the same form.
    public let issuer: String
    /// Period of validity.
    public let validity: Validity
    /// Whether basic constraints say it is a certificate authority.
    public let isCertificateAuthority: Bool
    /// Largest number of authorities below it, if limited.
    public let pathLength: Int?
    /// Allowed uses of the key; nil if the extension is absent, which allows all.
    public let keyUsage: KeyUsage?
    /// Object identifiers of all extensions, dotted, with their critical flag.
    public let extensions: [String: Bool]
    /// Strength in bits of the signature on it; 63 for SHA-1, 128 or more for today's algorithms.
    public let signatureSecurityBits: Int

    let handle: Handle

    /// Reads exactly one DER certificate; trailing bytes are refused.
    public init(der: [UInt8]) throws(CryptoError) {
        let handle = try Handle(der: der)
        let pointer = handle.pointer
        let flags = X509_get_extension_flags(pointer)
        guard flags & UInt32(EXFLAG_INVALID) == 0 else {
            OpenSSLErrorQueue.clear()
            throw .invalidCertificate(reason: "an extension cannot be read, or is present twice")
        }
        self.der = der
        self.handle = handle
        self.serialNumber = try Self.serialNumber(of: pointer)
        self.subject = Self.text(of: X509_get_subject_name(pointer))
        self.issuer = Self.text(of: X509_get_issuer_name(pointer))
        self.validity = Validity(
            notBefore: try seconds(of: X509_get0_notBefore(pointer)),
            notAfter: try seconds(of: X509_get0_notAfter(pointer)))
        self.isCertificateAuthority = flags & UInt32(EXFLAG_CA) != 0
        let pathLength = X509_get_pathlen(pointer)
        self.pathLength = pathLength < 0 ? nil : Int(pathLength)
        self.keyUsage = flags & UInt32(EXFLAG_KUSAGE) == 0 ? nil : KeyUsage(rawValue: X509_get_key_usage(pointer))
        self.extensions = Self.extensions(of: pointer)
        var securityBits: Int32 = 0
        let known = X509_get_signature_info(pointer, nil, nil, &securityBits, nil) == 1
        self.signatureSecurityBits = known ? Int(securityBits) : 0
        OpenSSLErrorQueue.clear()
    }

    /// Reads every `CERTIFICATE` block of a PEM text.
    public static func certificates(pem: String) throws(CryptoError) -> [Certificate] {
        var certificates: [Certificate] = []
        for block in try PEM.decode(pem) where block.label == "CERTIFICATE" {
            certificates.append(try Certificate(der: block.der))
        }
        return certificates
    }

    /// The certificate as PEM text.
    public var pemRepresentation: String { PEM.encode(label: "CERTIFICATE", der: der) }

    /// SHA-256 of the DER bytes.
    public var fingerprint: [UInt8] { SHA256.hash(der) }

    /// The key, if it is on P-256; fails for every other kind of key.
    public func p256PublicKey() throws(CryptoError) -> P256.PublicKey {
        guard let key = X509_get_pubkey(handle.pointer) else {
            throw .invalidKey(reason: OpenSSLErrorQueue.drain())
        }
        let owner = ECKey(adopting: key)
        guard ECKey.curve(of: key) == .p256 else { throw .invalidKey(reason: "the certificate's key is not on P-256") }
        return P256.PublicKey(key: owner)
    }

    /// Owner of OpenSSL's certificate.
    ///
    /// Unsafe for the compiler only: its cached values are filled in `init`, after which it is only read.
    final class Handle: Sendable {
        nonisolated(unsafe) let pointer: OpaquePointer

        init(der: [UInt8]) throws(CryptoError) {
            let pointer: OpaquePointer? = der.withUnsafeBufferPointer { buffer in
                var position = buffer.baseAddress
                guard let certificate = d2i_X509(nil, &position, buffer.count) else { return nil }
                guard position == buffer.baseAddress?.advanced(by: buffer.count) else {
                    X509_free(certificate)
                    return nil
                }
                return certificate
            }
            guard let pointer else {
                throw .invalidCertificate(reason: "no single DER certificate (\(OpenSSLErrorQueue.drain()))")
            }
            // Fills the cached extension values now, on this thread.
            _ = X509_check_purpose(pointer, -1, 0)
            self.pointer = pointer
        }

        deinit { X509_free(pointer) }
    }
}

extension Certificate {
    private static func serialNumber(of pointer: OpaquePointer) throws(CryptoError) -> String {
        guard let number = ASN1_INTEGER_to_BN(X509_get_serialNumber(pointer), nil) else {
            throw OpenSSLErrorQueue.failure("serial number")
        }
        defer { BN_free(number) }
        var bytes = [UInt8](repeating: 0, count: (Int(BN_num_bits(number)) + 7) / 8)
        BN_bn2bin(number, &bytes)
        return Hex.encode(bytes)
    }

    private static func text(of name: OpaquePointer?) -> String {
        // Names longer than this are cut: the text is for people, comparisons are OpenSSL's.
        var buffer = [CChar](repeating: 0, count: 512)
        guard let name, X509_NAME_oneline(name, &buffer, Int32(buffer.count)) != nil else { return "" }
        return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    private static func extensions(of pointer: OpaquePointer) -> [String: Bool] {
        var found: [String: Bool] = [:]
        for index in 0..<X509_get_ext_count(pointer) {
            guard let item = X509_get_ext(pointer, index), let object = X509_EXTENSION_get_object(item) else {
                continue
            }
            // Longer identifiers than this exist nowhere; a cut one would match nothing.
            var buffer = [CChar](repeating: 0, count: 128)
            guard OBJ_obj2txt(&buffer, Int32(buffer.count), object, 1) > 0 else { continue }
            let identifier = String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            found[identifier] = X509_EXTENSION_get_critical(item) == 1
        }
        return found
    }
}

/// Seconds since 1970 of a certificate time.
func seconds(of time: UnsafePointer<ASN1_TIME>?) throws(CryptoError) -> Int64 {
    guard let epoch = ASN1_TIME_set(nil, 0) else { throw OpenSSLErrorQueue.failure("time") }
    defer { ASN1_TIME_free(epoch) }
    var days: Int32 = 0
    var rest: Int32 = 0
    guard let time, ASN1_TIME_diff(&days, &rest, epoch, time) == 1 else {
        OpenSSLErrorQueue.clear()
        throw .invalidCertificate(reason: "a time cannot be read")
    }
    return Int64(days) * 86400 + Int64(rest)
}
