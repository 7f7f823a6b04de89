// A release build takes `sockaddr` for a type of the C library whose header names it first.
import CMicroHTTPD
import Glibc

/// A numeric IPv4 or IPv6 address, without port and zone.
///
/// Both kinds are kept as 128 bits, IPv4 as `::ffff:a.b.c.d` (RFC 4291 §2.5.5.2): a socket for both shows the same client
/// either way.
public struct IPAddress: Sendable, Hashable, CustomStringConvertible {
    /// The first 64 bits.
    let high: UInt64
    /// The last 64 bits.
    let low: UInt64

    init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Reads a numeric address as `inet_pton` does: no host names, ports, brackets, zones or leading zeros.
    public init?(_ text: String) {
        var four = in_addr()
        if inet_pton(AF_INET, text, &four) == 1 {
            self.init(four)
            return
        }
        var six = in6_addr()
        guard inet_pton(AF_INET6, text, &six) == 1 else { return nil }
        self.init(six)
    }

    /// The address of a socket; nil if it is neither IPv4 nor IPv6.
    init?(_ address: UnsafePointer<sockaddr>) {
        switch Int32(address.pointee.sa_family) {
        case AF_INET:
            self = address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { Self($0.pointee.sin_addr) }
        case AF_INET6:
            self = address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { Self($0.pointee.sin6_addr) }
        default:
            return nil
        }
    }

    private init(_ four: in_addr) {
        self.init(high: 0, low: Self.mappedPrefix << 32 | UInt64(UInt32(bigEndian: four.s_addr)))
    }

    private init(_ six: in6_addr) {
        self = withUnsafeBytes(of: six) {
            Self(
                high: UInt64(bigEndian: $0.loadUnaligned(as: UInt64.self)),
                low: UInt64(bigEndian: $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self)))
        }
    }

    /// What stands before the 32 bits of an IPv4 address.
    private static let mappedPrefix: UInt64 = 0xFFFF

    /// Whether it is an IPv4 address, written either way.
    public var isIPv4: Bool { high == 0 && low >> 32 == Self.mappedPrefix }

    /// What limits count as one client: an IPv4 address, or the first 64 bits of an IPv6 address. A provider gives every
    /// customer at least a /64 (RFC 6177), within which a client may change its address as often as it likes.
    public var network: IPAddress { isIPv4 ? self : IPAddress(high: high, low: 0) }

    /// The usual text.
    public var description: String {
        var buffer = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        if isIPv4 {
            var four = in_addr(s_addr: UInt32(truncatingIfNeeded: low).bigEndian)
            guard inet_ntop(AF_INET, &four, &buffer, socklen_t(buffer.count)) != nil else { return "" }
        } else {
            var words = (high.bigEndian, low.bigEndian)
            guard inet_ntop(AF_INET6, &words, &buffer, socklen_t(buffer.count)) != nil else { return "" }
        }
        return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
