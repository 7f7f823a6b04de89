import Glibc

/// Ports that nobody listens on now. Below 32768, where Linux does not take the ports of outgoing connections from, so
/// that a service that was killed can come back to its port.
enum FreePort {
    static func find() throws -> Int {
        for _ in 0..<200 {
            let port = Int.random(in: 20_000..<32_000)
            if canListen(port) { return port }
        }
        throw Places.Missing(description: "no free port from 20000 to 32000")
    }

    private static func canListen(_ port: Int) -> Bool {
        let file = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard file >= 0 else { return false }
        defer { close(file) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(file, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }
}
