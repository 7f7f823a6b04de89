/// Whose bucket it is: 128 bits made of an address or a name by a keyed hash.
///
/// The hash is Swift's (SipHash), keyed anew in every process: nobody outside can choose names that fall together, or
/// find out which do. Two clients with the same key would share a bucket; at 128 bits that does not happen.
public struct BucketKey: Sendable, Hashable {
    let high: UInt64
    let low: UInt64

    init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// The key of a client's address; IPv6 addresses of one /64 have one key.
    public init(_ address: IPAddress) { self.init(hashing: address.network) }

    /// The key of a user of an app; names of two apps never meet.
    public init(app: String, user: String) { self.init(hashing: [app, user]) }

    private init(hashing value: some Hashable) {
        var first = Hasher()
        first.combine(1 as UInt8)
        first.combine(value)
        var second = Hasher()
        second.combine(2 as UInt8)
        second.combine(value)
        self.init(
            high: UInt64(bitPattern: Int64(first.finalize())), low: UInt64(bitPattern: Int64(second.finalize())))
    }
}
