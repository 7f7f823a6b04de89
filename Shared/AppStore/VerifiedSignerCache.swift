import Crypto

/// A signer whose chain was verified to a pinned root, with its key ready for use. Belongs to one thread.
final class VerifiedSigner {
    /// The header text that names this signer, byte for byte.
    let headerSegment: [UInt8]
    /// Checks signatures of the leaf's key.
    let verifier: P256.SignatureVerifier
    /// The time in which leaf, intermediate and root are all valid.
    let validity: Certificate.Validity
    /// The leaf, for reports and metrics.
    let leaf: Certificate

    init(
        headerSegment: [UInt8], verifier: P256.SignatureVerifier, validity: Certificate.Validity, leaf: Certificate
    ) {
        self.headerSegment = headerSegment
        self.verifier = verifier
        self.validity = validity
        self.leaf = leaf
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
