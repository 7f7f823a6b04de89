import Glibc

/// A kept connection to the gateway with at most one request under way. Belongs to one thread. Plain sockets: the load
/// generator shares the processor with what it measures.
final class LoadConnection {
    /// An answer that has come completely.
    struct Answer {
        let status: Int
        /// Head and body.
        let bytes: ArraySlice<UInt8>
    }

    /// What went wrong between two sockets.
    struct Broken: Error, CustomStringConvertible {
        let description: String
    }

    /// For `poll`.
    let file: Int32
    /// The request under way, nil when idle.
    var job: Int?
    /// When its latency began, in nanoseconds.
    var since: UInt64 = 0
    private var received: [UInt8] = []
    private var buffer = [UInt8](repeating: 0, count: 4_096)

    /// Connects to a port of 127.0.0.1.
    init(port: UInt16) throws(Broken) {
        let socket = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
        let size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let connected = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(socket, $0, size) }
        }
        file = socket
        guard connected == 0 else { throw Broken(description: "nobody accepts connections on port \(port)") }
        var on: Int32 = 1
        setsockopt(socket, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
    }

    deinit { close(file) }

    /// Sends a request whole: it fits the socket's buffer, so this does not wait.
    func send(_ request: [UInt8], job: Int, since: UInt64) throws(Broken) {
        self.job = job
        self.since = since
        received.removeAll(keepingCapacity: true)
        var sent = 0
        while sent < request.count {
            let count = request.withUnsafeBytes { bytes in
                Glibc.send(file, bytes.baseAddress.map { $0 + sent }, bytes.count - sent, Int32(MSG_NOSIGNAL))
            }
            if count > 0 { sent += count } else if errno != EINTR { throw Broken(description: "send: errno \(errno)") }
        }
    }

    /// Takes what has arrived; the answer once it is complete.
    func receive() throws(Broken) -> Answer? {
        let count = recv(file, &buffer, buffer.count, Int32(MSG_DONTWAIT))
        if count < 0, errno == EAGAIN || errno == EINTR { return nil }
        guard count > 0 else { throw Broken(description: "the gateway closed a connection") }
        received += buffer[..<count]
        guard let head = Self.end(of: received, "\r\n\r\n") else { return nil }
        guard let field = Self.end(of: received[..<head], "Content-Length: ") else {
            throw Broken(description: "an answer without Content-Length")
        }
        guard received.count >= head + Self.number(received, from: field) else { return nil }
        // "HTTP/1.1 200"
        return Answer(status: Self.number(received, from: 9), bytes: received[...])
    }

    /// The status of the answer that `bytes` begin with; nil if it is not complete.
    static func answer(in bytes: [UInt8]) -> Int? {
        guard let head = end(of: bytes, "\r\n\r\n"), let field = end(of: bytes[..<head], "Content-Length: "),
            bytes.count >= head + number(bytes, from: field)
        else { return nil }
        return number(bytes, from: 9)
    }

    /// Where the first occurrence of `text` ends.
    static func end(of bytes: some RandomAccessCollection<UInt8> & Sendable, _ text: StaticString) -> Int? {
        let length = text.utf8CodeUnitCount
        let pattern = UnsafeBufferPointer(start: text.utf8Start, count: length)
        return bytes.withContiguousStorageIfAvailable { bytes -> Int? in
            guard let first = pattern.first, bytes.count >= length else { return nil }
            for start in 0...(bytes.count - length) where bytes[start] == first {
                if (1..<length).allSatisfy({ bytes[start + $0] == pattern[$0] }) { return start + length }
            }
            return nil
        } ?? nil
    }

    /// The digits at a place, as a number.
    private static func number(_ bytes: [UInt8], from start: Int) -> Int {
        var value = 0
        for byte in bytes[start...] {
            guard (0x30...0x39).contains(byte), value < 1 << 32 else { break }
            value = value * 10 + Int(byte - 0x30)
        }
        return value
    }
}
