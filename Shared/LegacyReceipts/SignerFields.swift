import AppStore
import Crypto

/// SignerInfo (RFC 5652 §5.3).
struct SignerFields {
    let signer: CertificateName
    let digest: MessageDigest
    let signature: ArraySlice<UInt8>
    /// As they were signed: DER with the tag of a set (§5.4).
    let signedAttributes: [UInt8]?
    /// What they say the content's digest is.
    let namedDigest: ArraySlice<UInt8>?

    init(_ element: BERElement, _ document: inout BERDocument) throws(VerificationFailure) {
        var cursor = element.inside
        _ = try document.next(&cursor, BERTag.integer, "a version")
        // A signer named by its key's identifier has another tag; Apple names it by issuer and number.
        let name = try document.next(&cursor, BERTag.sequence, "the signer's issuer and number")
        var inner = name.inside
        let issuer = try document.next(&inner, BERTag.sequence, "an issuer")
        let number = try document.next(&inner, BERTag.integer, "a serial number")
        try document.finish(inner, "the signer's name")
        signer = CertificateName(issuer: document[issuer.whole], serialNumber: document[number.content])

        guard let digest = ObjectIdentifier.digest(try Self.algorithm(&cursor, &document)) else {
            throw VerificationFailure(.alg, .algorithm, "its digest is neither SHA-1 nor SHA-256")
        }
        self.digest = digest
        let attributes = try document.nextIf(&cursor, BERTag.first)
        guard ObjectIdentifier.isRSA(try Self.algorithm(&cursor, &document), with: digest) else {
            throw VerificationFailure(.alg, .algorithm, "its signature is not RSA with the digest it names")
        }
        let text = try document.next(&cursor)
        signature = try document.octets(text)
        // What nobody signed is not read.
        _ = try document.nextIf(&cursor, BERTag.second)
        try document.finish(cursor, "a signer")

        guard let attributes else {
            signedAttributes = nil
            namedDigest = nil
            return
        }
        var whole = Array(document[attributes.whole])
        // With an indefinite length it would have to be written anew to be what was signed; nobody does that.
        guard whole.count > 1, whole[1] != 0x80 else { throw BERDocument.malformed("signed attributes are not DER") }
        whole[0] = BERTag.set
        signedAttributes = whole
        namedDigest = try Self.namedDigest(attributes, &document)
    }

    private static func algorithm(
        _ cursor: inout BERCursor, _ document: inout BERDocument
    ) throws(VerificationFailure) -> ArraySlice<UInt8> {
        var inner = try document.next(&cursor, BERTag.sequence, "an algorithm").inside
        return document[try document.next(&inner, BERTag.identifier, "an algorithm's name").content]
    }

    /// The attributes must say what they are about, each once.
    private static func namedDigest(
        _ attributes: BERElement, _ document: inout BERDocument
    ) throws(VerificationFailure) -> ArraySlice<UInt8> {
        var cursor = attributes.inside
        var digests: [ArraySlice<UInt8>] = []
        var isData = false
        while !cursor.isAtEnd {
            var inner = try document.next(&cursor, BERTag.sequence, "a signed attribute").inside
            let name = document[try document.next(&inner, BERTag.identifier, "an attribute's name").content]
            var values = try document.next(&inner, BERTag.set, "an attribute's values").inside
            if name.elementsEqual(ObjectIdentifier.messageDigest) {
                digests.append(try document.octets(document.next(&values)))
                try document.finish(values, "the signed digest")
            } else if name.elementsEqual(ObjectIdentifier.contentType) {
                let kind = try document.next(&values, BERTag.identifier, "a kind of content")
                isData = document[kind.content].elementsEqual(ObjectIdentifier.data)
            }
        }
        guard isData, digests.count == 1, let digest = digests.first else {
            throw BERDocument.malformed("signed attributes without one digest and the kind of content")
        }
        return digest
    }
}
