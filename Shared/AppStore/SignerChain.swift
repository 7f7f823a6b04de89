public import Crypto

/// The two certificates below the root by which data was signed, and their name. Immutable; any thread.
public final class SignerChain: Sendable, Equatable {
    /// The certificate that signs.
    public let leaf: Certificate
    /// The one that issued it.
    public let intermediate: Certificate
    /// SHA-256 of both, one after the other: names the chain.
    public let id: [UInt8]

    /// Names the chain; says nothing about trust.
    public init(leaf: Certificate, intermediate: Certificate) {
        self.leaf = leaf
        self.intermediate = intermediate
        id = SHA256.hash(leaf.der + intermediate.der)
    }

    /// When the first of the two ends (ms since 1970).
    public var expiresAt: Int64 {
        let seconds = min(leaf.validity.notAfter, intermediate.validity.notAfter)
        let (milliseconds, overflow) = seconds.multipliedReportingOverflow(by: 1_000)
        return overflow ? (seconds < 0 ? .min : .max) : milliseconds
    }

    /// The same certificates.
    public static func == (left: SignerChain, right: SignerChain) -> Bool { left === right || left.id == right.id }
}
