import CCurl
import Glibc

/// Whether an address belongs to the public internet: nobody's own machine or network may be reached by an address that
/// a stranger gave, whatever name it hides behind.
enum PeerAddress {
    /// Whether a connection to `address` stays within this machine, its networks, or what is reserved (IANA's registries
    /// of special-purpose addresses, RFC 6890). An address of an unknown family counts as private.
    static func isPrivate(_ address: UnsafePointer<sockaddr>) -> Bool {
        switch Int32(address.pointee.sa_family) {
        case AF_INET:
            address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                isPrivate(version4: UInt32(bigEndian: $0.pointee.sin_addr.s_addr))
            }
        case AF_INET6:
            address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) {
                withUnsafeBytes(of: $0.pointee.sin6_addr) { isPrivate(version6: Array($0)) }
            }
        default: true
        }
    }

    /// First address and length of the network, each.
    private static let private4: [(UInt32, UInt32)] = [
        (0x0000_0000, 8), (0x0A00_0000, 8), (0x6440_0000, 10), (0x7F00_0000, 8), (0xA9FE_0000, 16), (0xAC10_0000, 12),
        (0xC000_0000, 24), (0xC000_0200, 24), (0xC0A8_0000, 16), (0xC612_0000, 15), (0xC633_6400, 24),
        (0xCB00_7100, 24), (0xE000_0000, 3),
    ]

    /// Host byte order.
    static func isPrivate(version4 address: UInt32) -> Bool {
        private4.contains { network, length in (address ^ network) >> (32 - length) == 0 }
    }

    /// Sixteen bytes in network order.
    static func isPrivate(version6 bytes: [UInt8]) -> Bool {
        guard bytes.count == 16 else { return true }
        func version4(at index: Int) -> UInt32 { bytes[index..<index + 4].reduce(0) { $0 << 8 | UInt32($1) } }
        // Unspecified, loopback, IPv4-compatible and -mapped.
        if bytes.prefix(10).allSatisfy({ $0 == 0 }) {
            let middle = (bytes[10], bytes[11])
            return middle == (0xFF, 0xFF) ? isPrivate(version4: version4(at: 12)) : true
        }
        // What a translator (RFC 6052) or 6to4 (RFC 3056) would reach.
        if bytes.starts(with: [0x00, 0x64, 0xFF, 0x9B, 0, 0, 0, 0, 0, 0, 0, 0]) {
            return isPrivate(version4: version4(at: 12))
        }
        if bytes.starts(with: [0x20, 0x02]) { return isPrivate(version4: version4(at: 2)) }
        // Only 2000::/3 is public; of it not Teredo (2001::/32) and documentation (2001:db8::/32).
        guard bytes[0] & 0xE0 == 0x20 else { return true }
        return bytes.starts(with: [0x20, 0x01, 0x00, 0x00]) || bytes.starts(with: [0x20, 0x01, 0x0D, 0xB8])
    }
}
