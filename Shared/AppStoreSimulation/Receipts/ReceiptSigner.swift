public import Crypto
import JOSE

/// Makes receipts as the App Store does: attributes in a signed container (RFC 5652). Any thread.
public struct ReceiptSigner: Sendable {
    /// The forms that receipts are seen in.
    public struct Form: Sendable {
        /// Digest of the content and of the signature.
        public var digest = MessageDigest.sha256
        /// Whether the signature is over signed attributes instead of the content.
        public var hasSignedAttributes = false
        /// Lengths that are told by an end mark, and the content in pieces: as Xcode writes.
        public var isIndefinite = false
        /// The content's text of bytes inside another one.
        public var isWrappedTwice = false
        /// Certificates beside the signer's; nil is the intermediate and the root.
        public var certificates: [Certificate]?
        /// As Apple writes today.
        public init() {}
    }

    /// Whose certificates the container carries.
    public let authority: ReceiptAuthority

    /// Signs with the authority's leaf.
    public init(_ authority: ReceiptAuthority) { self.authority = authority }

    /// The container's bytes.
    public func sign(_ receipt: SimulatedReceipt, _ form: Form = Form()) throws(CryptoError) -> [UInt8] {
        try sign(content: receipt.content, form)
    }

    /// What a client sends: the container in base64.
    public func text(_ receipt: SimulatedReceipt) throws(CryptoError) -> String { Base64.encode(try sign(receipt)) }

    /// Any content.
    public func sign(content: [UInt8], _ form: Form = Form()) throws(CryptoError) -> [UInt8] {
        func element(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
            form.isIndefinite ? DER.indefinite(tag, content) : DER.element(tag, content)
        }
        let signed = form.isWrappedTwice ? DER.octets(content) : content
        var octets = DER.octets(signed)
        if form.isIndefinite {
            let pieces = signed.chunks(of: 1_000).map { DER.octets($0) }
            octets = DER.indefinite(0x24, Array(pieces.joined()))
        }
        let certificates = [authority.leaf] + (form.certificates ?? [authority.intermediate, authority.root])
        var data = DER.integer(1) + DER.element(0x31, Self.digest(form.digest))
        data += element(0x30, Self.identifier(Self.data) + element(0xA0, octets))
        data += DER.element(0xA0, Array(certificates.map(\.der).joined()))
        data += DER.element(0x31, try signer(of: signed, form))
        return element(0x30, Self.identifier(Self.signedData) + element(0xA0, element(0x30, data)))
    }

    private func signer(of content: [UInt8], _ form: Form) throws(CryptoError) -> [UInt8] {
        var attributes: [UInt8] = []
        var input = content
        if form.hasSignedAttributes {
            let digest = try form.digest.hash(content[...])
            let list =
                DER.sequence(Self.identifier(Self.contentType), DER.element(0x31, Self.identifier(Self.data)))
                + DER.sequence(Self.identifier(Self.messageDigest), DER.element(0x31, DER.octets(digest)))
            attributes = DER.element(0xA0, list)
            input = DER.element(0x31, list)
        }
        let (issuer, number) = Self.name(of: authority.leaf.der)
        return DER.sequence(
            DER.integer(1), DER.sequence(issuer, number), Self.digest(form.digest), attributes,
            DER.sequence(Self.identifier(Self.rsa), [0x05, 0x00]),
            DER.octets(try authority.key.signature(for: input, digest: form.digest)))
    }

    private static let signedData: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07, 0x02]
    private static let data: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07, 0x01]
    private static let contentType: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x09, 0x03]
    private static let messageDigest: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x09, 0x04]
    private static let rsa: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01]

    private static func identifier(_ content: [UInt8]) -> [UInt8] { DER.element(0x06, content) }

    private static func digest(_ digest: MessageDigest) -> [UInt8] {
        let content: [UInt8] =
            digest == .sha1
            ? [0x2B, 0x0E, 0x03, 0x02, 0x1A] : [0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01]
        return DER.sequence(identifier(content), [0x05, 0x00])
    }

    /// Issuer and serial number as they stand in a certificate, which was read before: lengths are good.
    private static func name(of der: [UInt8]) -> (issuer: [UInt8], number: [UInt8]) {
        var rest = der[...]
        _ = take(&rest, entering: true)
        _ = take(&rest, entering: true)
        if rest.first == 0xA0 { _ = take(&rest) }
        let number = take(&rest)
        _ = take(&rest)
        return (take(&rest), number)
    }

    private static func take(_ rest: inout ArraySlice<UInt8>, entering: Bool = false) -> [UInt8] {
        let bytes = Array(rest.prefix(6))
        guard bytes.count >= 2 else { return [] }
        let more = bytes[1] < 0x80 ? 0 : min(Int(bytes[1] & 0x7F), bytes.count - 2)
        let length = more == 0 ? Int(bytes[1]) : bytes[2..<2 + more].reduce(0) { $0 << 8 | Int($1) }
        let taken = Array(rest.prefix(entering ? 2 + more : 2 + more + length))
        rest = rest.dropFirst(taken.count)
        return taken
    }
}

extension Array {
    fileprivate func chunks(of size: Int) -> [[Element]] {
        stride(from: 0, to: count, by: size).map { Array(self[$0..<Swift.min($0 + size, count)]) }
    }
}
