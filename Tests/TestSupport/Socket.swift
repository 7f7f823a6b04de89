import Glibc

/// The few socket calls that tests need, on IPv4 and the loopback address.
package enum Socket {
    struct Failure: Error {
        let call: String
        let number: Int32
    }

    private static let addressSize = socklen_t(MemoryLayout<sockaddr_in>.size)

    private static func makeStream() -> Int32 {
        let file = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        if file >= 0 { _ = fcntl(file, F_SETFD, FD_CLOEXEC) }
        return file
    }

    /// A listening socket on a free port of 127.0.0.1.
    static func listen() throws -> (file: Int32, port: Int) {
        let file = makeStream()
        guard file >= 0 else { throw Failure(call: "socket", number: errno) }
        var address = loopback(port: 0)
        let bound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(file, $0, addressSize) }
        }
        guard bound == 0, Glibc.listen(file, 128) == 0 else {
            let number = errno
            close(file)
            throw Failure(call: "listen", number: number)
        }
        var actualSize = addressSize
        _ = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(file, $0, &actualSize) }
        }
        return (file, Int(UInt16(bigEndian: address.sin_port)))
    }

    /// A connection to an IPv4 address, nil if refused.
    package static func connect(host: String, port: Int) -> Int32? {
        let file = makeStream()
        guard file >= 0 else { return nil }
        var address = loopback(port: port)
        inet_pton(AF_INET, host, &address.sin_addr)
        let connected = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { Glibc.connect(file, $0, addressSize) }
        }
        guard connected == 0 else {
            close(file)
            return nil
        }
        return file
    }

    /// Sends everything; false if the peer is gone.
    package static func sendAll(_ bytes: [UInt8], to file: Int32) -> Bool {
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes { buffer in
                send(file, buffer.baseAddress.map { $0 + sent }, buffer.count - sent, Int32(MSG_NOSIGNAL))
            }
            if count > 0 { sent += count } else if errno != EINTR { return false }
        }
        return true
    }

    /// Sends small pieces at once. A proxy that holds them back until the last one was acknowledged makes every round
    /// trip 40 ms longer (Nagle's algorithm and the delayed acknowledgement).
    static func sendAtOnce(_ file: Int32) {
        var option: Int32 = 1
        setsockopt(file, Int32(IPPROTO_TCP), TCP_NODELAY, &option, socklen_t(MemoryLayout<Int32>.size))
    }

    /// Closes with RST instead of FIN, as a crashed machine's router would.
    static func reset(_ file: Int32) {
        var option = linger(l_onoff: 1, l_linger: 0)
        setsockopt(file, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
        close(file)
    }

    private static func loopback(port: Int) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(UInt16(truncatingIfNeeded: port)).bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
        return address
    }
}
