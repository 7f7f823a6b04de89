import Glibc
import Synchronization

/// Carries the bytes of one proxied connection, on that connection's thread.
struct ProxyCarrier {
    let proxy: FaultyProxy
    let client: Int32
    let server: Int32
    let epoch: Int
    /// The last bytes of each sender, so that a pattern is seen across chunks.
    private var tails: [FaultyProxy.Sender: [UInt8]] = [:]
    /// Set once a pattern was passed on: the next byte from this side cuts the connection.
    private var awaitedAnswer: FaultyProxy.Sender?

    init(proxy: FaultyProxy, client: Int32, server: Int32, epoch: Int) {
        self.proxy = proxy
        self.client = client
        self.server = server
        self.epoch = epoch
    }

    mutating func run() {
        defer {
            Socket.reset(client)
            Socket.reset(server)
        }
        while true {
            let (isOver, isStalled) = proxy.state.withLock { ($0.isClosed || $0.epoch != epoch, $0.isStalled) }
            if isOver { return }
            var files = [
                pollfd(fd: client, events: Int16(POLLIN), revents: 0),
                pollfd(fd: server, events: Int16(POLLIN), revents: 0),
            ]
            // 5 ms: how soon a change of the proxy's mode is noticed.
            if isStalled {
                _ = poll(nil, 0, 5)
                continue
            }
            guard poll(&files, 2, 5) > 0 else { continue }
            if files[0].revents != 0, !carry(from: .client) { return }
            if files[1].revents != 0, !carry(from: .server) { return }
        }
    }

    /// Carries what has arrived from `sender`; false ends the connection.
    private mutating func carry(from sender: FaultyProxy.Sender) -> Bool {
        let (source, destination) = sender == .client ? (client, server) : (server, client)
        var chunk = [UInt8](repeating: 0, count: 65_536)
        let count = read(source, &chunk, chunk.count)
        guard count > 0 else { return count < 0 && (errno == EINTR || errno == EAGAIN) }
        if awaitedAnswer == sender { return false }
        let bytes = Array(chunk.prefix(count))
        let (moment, delay) = proxy.state.withLock { state -> (FaultyProxy.Moment?, Duration) in
            let isDelayed = state.delayed.map { $0 == sender } ?? true
            return (trigger(on: bytes, from: sender, in: &state), isDelayed ? state.delay : .zero)
        }
        if moment == .beforeForwarding { return false }
        if moment == .whenAnswered { awaitedAnswer = sender == .client ? .server : .client }
        if delay > .zero { _ = poll(nil, 0, Int32(delay.wholeMilliseconds)) }
        // A mode that changed during the delay counts.
        if proxy.state.withLock({ $0.epoch != epoch || $0.isClosed }) { return false }
        return Socket.sendAll(bytes, to: destination)
    }

    private mutating func trigger(
        on bytes: [UInt8], from sender: FaultyProxy.Sender, in state: inout FaultyProxy.State
    ) -> FaultyProxy.Moment? {
        guard let trigger = state.trigger, trigger.sender == sender else {
            tails[sender] = nil
            return nil
        }
        let window = (tails[sender] ?? []) + bytes
        tails[sender] = Array(window.suffix(trigger.pattern.count - 1))
        guard window.contains(trigger.pattern) else { return nil }
        state.trigger = nil
        state.triggered += 1
        return trigger.moment
    }
}

extension Duration {
    fileprivate var wholeMilliseconds: Int64 {
        components.seconds * 1_000 + components.attoseconds / 1_000_000_000_000_000
    }
}
