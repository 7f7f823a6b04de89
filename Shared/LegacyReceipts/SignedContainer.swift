import AppStore
import Crypto

/// A receipt's container: CMS SignedData (RFC 5652 §5) in the one shape that the App Store writes.
///
/// One signer, named by issuer and serial number, RSA; with or without signed attributes.
struct SignedContainer {
    /// More certificates than this are refused: Apple sends three.
    static let maximumCertificates = 10

    /// What was signed: the receipt's attributes.
    let content: ArraySlice<UInt8>
    /// DER of the signer's certificate.
    let signer: ArraySlice<UInt8>
    /// DER of the others.
    let others: [ArraySlice<UInt8>]
    /// Digest of the content.
    let digest: MessageDigest
    /// The signature.
    let signature: ArraySlice<UInt8>
    /// DER of the signed attributes, tagged as the set that was signed; nil if the content itself was.
    let signedAttributes: [UInt8]?
    /// The digest that the signed attributes name.
    let namedDigest: ArraySlice<UInt8>?

    /// Reads the container; says nothing about trust.
    init(_ bytes: [UInt8]) throws(VerificationFailure) {
        var document = BERDocument(bytes)
        var cursor = document.start
        let info = try document.next(&cursor, BERTag.sequence, "ContentInfo")
        try document.finish(cursor, "the receipt")
        var inner = info.inside
        try Self.expect(ObjectIdentifier.signedData, &inner, &document, "signed data")
        let wrapper = try document.next(&inner, BERTag.first, "the signed data")
        try document.finish(inner, "ContentInfo")
        inner = wrapper.inside
        let signedData = try document.next(&inner, BERTag.sequence, "SignedData")
        try document.finish(inner, "the signed data")

        cursor = signedData.inside
        _ = try document.next(&cursor, BERTag.integer, "a version")
        _ = try document.next(&cursor, BERTag.set, "the digest algorithms")
        content = try Self.content(&cursor, &document)
        let certificates = try Self.certificates(&cursor, &document)
        // Lists of revocations: Apple sends none, and none is asked.
        _ = try document.nextIf(&cursor, BERTag.second)
        let signers = try document.next(&cursor, BERTag.set, "the signers")
        try document.finish(cursor, "SignedData")

        cursor = signers.inside
        guard !cursor.isAtEnd else { throw VerificationFailure(.signature, .signature, "nobody signed the receipt") }
        let only = try document.next(&cursor, BERTag.sequence, "a signer")
        guard cursor.isAtEnd else { throw BERDocument.malformed("more than one signer") }
        let info2 = try SignerFields(only, &document)
        digest = info2.digest
        signature = info2.signature
        signedAttributes = info2.signedAttributes
        namedDigest = info2.namedDigest
        guard
            let place = try certificates.firstIndexThrowing({ (der) throws(VerificationFailure) in
                try CertificateName(der) == info2.signer
            })
        else {
            throw VerificationFailure(.certificate, .certificates, "the signer's certificate is not in the receipt")
        }
        signer = certificates[place]
        others = certificates.indices.filter { $0 != place }.map { certificates[$0] }
    }

    private static func expect(
        _ identifier: [UInt8], _ cursor: inout BERCursor, _ document: inout BERDocument, _ name: String
    ) throws(VerificationFailure) {
        let found = try document.next(&cursor, BERTag.identifier, "the kind of content")
        guard document[found.content].elementsEqual(identifier) else {
            throw BERDocument.malformed("its content is no \(name)")
        }
    }

    private static func content(
        _ cursor: inout BERCursor, _ document: inout BERDocument
    ) throws(VerificationFailure) -> ArraySlice<UInt8> {
        let encapsulated = try document.next(&cursor, BERTag.sequence, "the content")
        var inner = encapsulated.inside
        try expect(ObjectIdentifier.data, &inner, &document, "plain data")
        guard let wrapper = try document.nextIf(&inner, BERTag.first) else {
            throw BERDocument.malformed("the content is missing")
        }
        try document.finish(inner, "the content")
        inner = wrapper.inside
        let text = try document.next(&inner)
        try document.finish(inner, "the content")
        return try document.octets(text)
    }

    private static func certificates(
        _ cursor: inout BERCursor, _ document: inout BERDocument
    ) throws(VerificationFailure) -> [ArraySlice<UInt8>] {
        guard let list = try document.nextIf(&cursor, BERTag.first) else { return [] }
        var found: [ArraySlice<UInt8>] = []
        var inner = list.inside
        while !inner.isAtEnd {
            let certificate = try document.next(&inner, BERTag.sequence, "a certificate")
            guard certificate.whole.count <= ChainVerifier.maximumCertificateBytes else {
                throw VerificationFailure(.tooLarge, .certificates, "certificate \(found.count) is over 4 KiB")
            }
            found.append(document[certificate.whole])
            guard found.count <= maximumCertificates else {
                throw VerificationFailure(.tooLarge, .certificates, "more than \(maximumCertificates) certificates")
            }
        }
        return found
    }
}

/// What names a certificate in a container: its issuer and its number, byte for byte.
struct CertificateName: Equatable {
    let issuer: ArraySlice<UInt8>
    let serialNumber: ArraySlice<UInt8>

    init(issuer: ArraySlice<UInt8>, serialNumber: ArraySlice<UInt8>) {
        self.issuer = issuer
        self.serialNumber = serialNumber
    }

    /// That of a certificate (RFC 5280 §4.1).
    init(_ der: ArraySlice<UInt8>) throws(VerificationFailure) {
        var document = BERDocument(Array(der))
        var cursor = document.start
        cursor = try document.next(&cursor, BERTag.sequence, "a certificate").inside
        cursor = try document.next(&cursor, BERTag.sequence, "a certificate's content").inside
        _ = try document.nextIf(&cursor, BERTag.first)
        let number = try document.next(&cursor, BERTag.integer, "a serial number")
        _ = try document.next(&cursor, BERTag.sequence, "an algorithm")
        let issuer = try document.next(&cursor, BERTag.sequence, "an issuer")
        self.init(issuer: document[issuer.whole], serialNumber: document[number.content])
    }
}

extension Array {
    /// `firstIndex(where:)` for a test that may fail in its own way.
    fileprivate func firstIndexThrowing<Failure: Error>(
        _ test: (Element) throws(Failure) -> Bool
    ) throws(Failure) -> Int? {
        for index in indices where try test(self[index]) { return index }
        return nil
    }
}
