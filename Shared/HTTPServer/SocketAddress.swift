import CMicroHTTPD
import Glibc

/// Numeric IPv4 and IPv6 addresses, to and from the system's form.
enum SocketAddress {
    /// The text of an address, without its port.
    static func text(of address: UnsafePointer<sockaddr>) -> String {
        var buffer = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        let family = Int32(address.pointee.sa_family)
        let isWritten: Bool
        switch family {
        case AF_INET:
            isWritten = address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                var raw = $0.pointee.sin_addr
                return inet_ntop(family, &raw, &buffer, socklen_t(INET6_ADDRSTRLEN)) != nil
            }
        case AF_INET6:
            isWritten = address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) {
                var raw = $0.pointee.sin6_addr
                return inet_ntop(family, &raw, &buffer, socklen_t(INET6_ADDRSTRLEN)) != nil
            }
        default:
            return ""
        }
        guard isWritten else { return "" }
        return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Calls `body` with the system's form of a numeric address, or returns nil if the text is none.
    static func with<Result>(
        _ text: String, port: UInt16, _ body: (_ address: UnsafePointer<sockaddr>, _ isIPv6: Bool) -> Result
    ) -> Result? {
        var four = sockaddr_in()
        if inet_pton(AF_INET, text, &four.sin_addr) == 1 {
            four.sin_family = sa_family_t(AF_INET)
            four.sin_port = port.bigEndian
            return withUnsafePointer(to: &four) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, false) }
            }
        }
        var six = sockaddr_in6()
        guard inet_pton(AF_INET6, text, &six.sin6_addr) == 1 else { return nil }
        six.sin6_family = sa_family_t(AF_INET6)
        six.sin6_port = port.bigEndian
        return withUnsafePointer(to: &six) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, true) }
        }
    }
}
