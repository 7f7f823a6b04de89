import Glibc

/// Numeric IPv4 and IPv6 addresses in the system's form, for listening.
enum SocketAddress {
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
