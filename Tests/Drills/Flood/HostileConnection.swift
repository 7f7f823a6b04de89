import Glibc

/// One of the connections of a flood; it is opened again whenever it ends. Belongs to one thread, never blocks it.
struct HostileConnection: ~Copyable {
    /// What it has to wait for.
    enum State {
        /// Not open before this time (nanoseconds).
        case closed(until: UInt64)
        /// Connecting, or has bytes to send.
        case sending(Int)
        /// Has sent a request and reads the answer.
        case reading
        /// Sends a byte at this time.
        case waiting(until: UInt64)
    }

    private let kind: FloodKind
    private let port: UInt16
    private let bytes: [UInt8]
    private(set) var file: Int32 = -1
    private(set) var state = State.closed(until: 0)
    private var received: [UInt8] = []

    /// A byte twice a second: no server can take that for silence.
    private static let trickle: UInt64 = 500_000_000
    /// A connection that was closed is opened again after a short way over the internet; who hangs up by himself needs no
    /// such rest.
    private static let roundTrip: UInt64 = 20_000_000

    init(_ kind: FloodKind, port: UInt16) {
        self.kind = kind
        self.port = port
        switch kind.behaviour {
        case .asks(let bytes), .trickles(let bytes), .hangsUp(let bytes): self.bytes = bytes
        }
    }

    deinit { if file >= 0 { close(file) } }

    /// What `poll` has to look for; nil while it is only a matter of time.
    var interest: Int16? {
        switch state {
        case .closed: nil
        case .sending: Int16(POLLOUT)
        case .reading, .waiting: Int16(POLLIN)
        }
    }

    /// Does what is due at `now`; `isReady` says that `poll` saw what it was to look for.
    mutating func step(at now: UInt64, isReady: Bool, _ counts: inout FloodCounts) {
        switch state {
        case .closed(let until):
            if now >= until { open(at: now, &counts) }
        case .sending(let sent):
            if isReady { send(from: sent, at: now, &counts) }
        case .reading:
            if isReady { read(at: now, &counts) }
        case .waiting(let until):
            if isReady {
                read(at: now, &counts)
            } else if now >= until {
                let byte: [UInt8] = [0x20]
                if Glibc.send(file, byte, 1, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT)) != 1, errno != EAGAIN {
                    return end(at: now, &counts)
                }
                state = .waiting(until: now + Self.trickle)
            }
        }
    }

    private mutating func open(at now: UInt64, _ counts: inout FloodCounts) {
        file = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
        // Chosen at connecting: an address and a port to each destination are enough for thousands of connections.
        var isDeferred: Int32 = 1
        setsockopt(file, Int32(IPPROTO_IP), IP_BIND_ADDRESS_NO_PORT, &isDeferred, socklen_t(MemoryLayout<Int32>.size))
        _ = Self.with(kind.source, port: 0) { bind(file, $0, $1) }
        let connected = Self.with("127.0.0.1", port: port) { connect(file, $0, $1) }
        guard connected == 0 || errno == EINPROGRESS else { return end(at: now, &counts) }
        counts.connections += 1
        state = .sending(0)
    }

    private mutating func send(from sent: Int, at now: UInt64, _ counts: inout FloodCounts) {
        let count = bytes.withUnsafeBytes {
            Glibc.send(
                file, $0.baseAddress.map { $0 + sent }, $0.count - sent, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
        }
        guard count > 0 else {
            if errno != EAGAIN { end(at: now, &counts) }
            return
        }
        guard sent + count == bytes.count else {
            state = .sending(sent + count)
            return
        }
        counts.requests += 1
        received.removeAll(keepingCapacity: true)
        switch kind.behaviour {
        case .asks: state = .reading
        case .trickles: state = .waiting(until: now + Self.trickle)
        case .hangsUp: hangUp(at: now)
        }
    }

    /// Without waiting for the other side, so that ports are free at once.
    private mutating func hangUp(at now: UInt64) {
        var option = linger(l_onoff: 1, l_linger: 0)
        setsockopt(file, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
        close(file)
        file = -1
        state = .closed(until: now)
    }

    private mutating func read(at now: UInt64, _ counts: inout FloodCounts) {
        var piece = [UInt8](repeating: 0, count: 4_096)
        let count = recv(file, &piece, piece.count, Int32(MSG_DONTWAIT))
        if count < 0, errno == EAGAIN { return }
        guard count > 0 else { return end(at: now, &counts) }
        received += piece[..<count]
        guard let answer = LoadConnection.answer(in: received) else { return }
        counts.answers[answer, default: 0] += 1
        state = .sending(0)
    }

    private mutating func end(at now: UInt64, _ counts: inout FloodCounts) {
        counts.closed += 1
        hangUp(at: now + Self.roundTrip)
    }

    private static func with(_ host: String, port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32)
        -> Int32
    {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        inet_pton(AF_INET, host, &address.sin_addr)
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
        }
    }
}

/// What a flood did and got.
struct FloodCounts: Sendable {
    /// Connections begun.
    var connections = 0
    /// Requests (or what stood for them) sent.
    var requests = 0
    /// Answers by status.
    var answers: [Int: Int] = [:]
    /// Connections that the gateway closed or refused.
    var closed = 0
}
