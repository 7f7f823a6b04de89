import Glibc

/// A blocking socket that sends what no HTTP library would send. For own threads only.
public final class RawClient {
    /// The connection did what no test expects.
    public struct Failure: Error {
        /// What happened.
        public let what: String
    }

    /// One answer taken apart as far as tests need it.
    public struct Answer: Equatable, Sendable {
        /// Of the status line, 0 if it has none.
        public var status: Int
        /// Status line and fields, with the empty line.
        public var head: String
        /// What follows.
        public var body: String
        /// Whether the head has this line, in any case.
        public func has(_ line: String) -> Bool { head.lowercased().contains(line.lowercased() + "\r\n") }
    }

    private var socket: Int32
    private var buffer: [UInt8] = []

    /// Connects to a port of this machine.
    /// - Parameter source: the address it calls from; any of 127.0.0.0/8 is this machine.
    public init(port: UInt16, from source: String? = nil, receiveBuffer: Int32? = nil) throws {
        socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        if var receiveBuffer {
            setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &receiveBuffer, socklen_t(MemoryLayout<Int32>.size))
        }
        // A test never waits longer than this for a byte: generous, since it only ends a test that fails.
        var patience = timeval(tv_sec: 60, tv_usec: 0)
        setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        if let source {
            inet_pton(AF_INET, source, &address.sin_addr)
            let bound = withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
            guard bound == 0 else { throw Failure(what: "bind: \(errno)") }
        }
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        let status = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard status == 0 else { throw Failure(what: "connect: \(errno)") }
    }

    deinit { disconnect() }

    /// Closes the socket.
    public func disconnect() {
        if socket >= 0 { close(socket) }
        socket = -1
    }

    /// Sends everything; false if the server has closed the connection.
    @discardableResult
    public func send(_ bytes: [UInt8]) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let sent = rest.withUnsafeBytes { Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard sent > 0 else { return false }
            rest = rest.dropFirst(sent)
        }
        return true
    }

    /// Sends a text.
    @discardableResult
    public func send(_ text: String) -> Bool { send(Array(text.utf8)) }

    /// Reads one answer with `Content-Length`; nil if the connection was closed before one came.
    public func answer(isHead: Bool = false) throws -> Answer? {
        while true {
            if let end = headEnd() {
                let head = String(decoding: buffer[..<end], as: UTF8.self)
                let length = isHead ? 0 : Self.contentLength(head)
                while buffer.count < end + length {
                    guard try fill() else { throw Failure(what: "closed inside a body") }
                }
                let body = String(decoding: buffer[end..<(end + length)], as: UTF8.self)
                buffer.removeFirst(end + length)
                let status = Int(head.split(separator: " ").dropFirst().first ?? "") ?? 0
                return Answer(status: status, head: head, body: body)
            }
            guard try fill() else {
                guard buffer.isEmpty else { throw Failure(what: "closed inside a head") }
                return nil
            }
        }
    }

    /// The next `count` bytes; nil if the server closes the connection before.
    public func take(_ count: Int) throws -> [UInt8]? {
        while buffer.count < count {
            guard try fill() else { return nil }
        }
        defer { buffer.removeFirst(count) }
        return Array(buffer.prefix(count))
    }

    /// Says that nothing more is sent; what comes can still be read.
    public func finishSending() { shutdown(socket, Int32(SHUT_WR)) }

    /// Whether the server closes the connection without sending anything more.
    public func isClosed() throws -> Bool {
        guard buffer.isEmpty else { return false }
        return try !fill()
    }

    /// Everything that comes until the server closes the connection.
    public func restUntilClosed() throws -> String {
        while try fill() {}
        return String(decoding: buffer, as: UTF8.self)
    }

    /// What has come within a short time of the first silence; for answers that may never come.
    public func arrived(within limit: Duration) -> [UInt8] {
        let milliseconds = Int32(limit / .milliseconds(1))
        var entry = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        while poll(&entry, 1, milliseconds) > 0, (try? fill()) == true {}
        return buffer
    }

    private func fill() throws -> Bool {
        var piece = [UInt8](repeating: 0, count: 65_536)
        let count = recv(socket, &piece, piece.count, 0)
        if count > 0 {
            buffer.append(contentsOf: piece[..<count])
            return true
        }
        if count == 0 || errno == ECONNRESET { return false }
        throw Failure(what: "recv: \(errno)")
    }

    private func headEnd() -> Int? {
        guard buffer.count >= 4 else { return nil }
        for index in 3..<buffer.count
        where buffer[index] == 10 && buffer[index - 1] == 13 && buffer[index - 2] == 10 && buffer[index - 3] == 13 {
            return index + 1
        }
        return nil
    }

    private static func contentLength(_ head: String) -> Int {
        for line in head.split(separator: "\r\n") where line.lowercased().hasPrefix("content-length:") {
            return Int(line.dropFirst("content-length:".count).filter { $0 != " " }) ?? 0
        }
        return 0
    }
}
