import Crypto
import JOSE

/// A signer with its key ready for use; trusted once its chain was verified, which is when the cache gets it.
/// Belongs to one thread.
final class VerifiedSigner {
    /// The header text that names this signer, byte for byte.
    let headerSegment: [UInt8]
    /// The leaf, for reports and metrics.
    var leaf: Certificate { chain.leaf }
    /// Leaf and intermediate.
    let chain: SignerChain
    /// The time in which leaf, intermediate and root are all valid; the leaf's own until the chain was verified.
    var validity: Certificate.Validity
    private let verifier: P256.SignatureVerifier
    /// The header's hash, to go on from: hashing 4 KB again would be half of what is not the signature itself.
    private let hashedHeader: SHA256Prefix

    init(headerSegment: [UInt8], key: P256.PublicKey, chain: SignerChain) throws(CryptoError) {
        self.headerSegment = headerSegment
        self.chain = chain
        validity = chain.leaf.validity
        verifier = try P256.SignatureVerifier(key)
        hashedHeader = try SHA256Prefix(headerSegment)
    }

    /// Whether `signature` is the leaf key's over `jws`, whose header must be this signer's.
    func isValidSignature(_ signature: [UInt8], of jws: CompactJWS) -> Bool {
        guard let digest = hashedHeader.hash(appending: jws.signingInput.dropFirst(headerSegment.count)) else {
            return false
        }
        return verifier.isValidSignature(signature, digest: digest)
    }
}

/// The signers seen last, found by the raw header text: Apple sends the same header for months.
///
/// Bounded, least recently used goes first. Only signers whose chain verified enter, and whoever wants to vary
/// a header needs the leaf's private key, so nobody but Apple decides what is in here.
struct VerifiedSignerCache {
    private let capacity: Int
    private var signers: [VerifiedSigner] = []

    init(capacity: Int) {
        self.capacity = max(1, capacity)
        signers.reserveCapacity(self.capacity + 1)
    }

    var count: Int { signers.count }

    /// The signer of this header, which becomes the most recently used one.
    ///
    /// A search from the front: in practice there are one or two, and comparing 4 KB is cheaper than hashing them.
    mutating func signer(for headerSegment: ArraySlice<UInt8>) -> VerifiedSigner? {
        for index in signers.indices where Self.areEqual(signers[index].headerSegment, headerSegment) {
            let found = signers[index]
            if index > 0 {
                signers.remove(at: index)
                signers.insert(found, at: 0)
            }
            return found
        }
        return nil
    }

    mutating func insert(_ signer: VerifiedSigner) {
        signers.insert(signer, at: 0)
        if signers.count > capacity { signers.removeLast() }
    }

    private static func areEqual(_ cached: [UInt8], _ header: ArraySlice<UInt8>) -> Bool {
        guard cached.count == header.count else { return false }
        return cached.withUnsafeBytes { left in
            header.withUnsafeBytes { right in
                // Word by word; the rest byte by byte.
                var index = 0
                while index + 8 <= left.count {
                    let a = left.loadUnaligned(fromByteOffset: index, as: UInt64.self)
                    let b = right.loadUnaligned(fromByteOffset: index, as: UInt64.self)
                    if a != b { return false }
                    index += 8
                }
                while index < left.count {
                    if left[index] != right[index] { return false }
                    index += 1
                }
                return true
            }
        }
    }
}
