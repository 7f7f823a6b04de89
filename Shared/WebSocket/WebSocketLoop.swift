import CWslay
import Glibc
import HTTPServer

/// The thread of all sockets. Belongs to it alone.
struct WebSocketLoop {
    /// How often deadlines are looked at; they are late by at most this.
    private static let tick = Duration.milliseconds(200)
    /// Events taken at once.
    private static let batch = 64
    /// The inbox among the keys of the sockets, which count from 1.
    private static let inboxKey: UInt64 = 0

    private let limits: WebSocketLimits
    private let inbox: WebSocketInbox
    private let epoll: Int32
    private var peers: [UInt64: WebSocketPeer] = [:]
    private let buffered = WebSocketBudget()
    private var lastKey: UInt64 = 0
    private var nextTick = ContinuousClock.now
    /// When everything is closed, however far it is.
    private var stopAt: ContinuousClock.Instant?

    init(_ limits: WebSocketLimits, _ inbox: WebSocketInbox) {
        self.limits = limits
        self.inbox = inbox
        epoll = epoll_create1(Int32(EPOLL_CLOEXEC))
        _ = purser_epoll_set(epoll, Int32(purser_epoll_add), inbox.descriptor, Self.inboxKey, 1, 0)
    }

    /// Returns when it was told to stop and no socket is left.
    mutating func run() {
        var events = [purser_event](repeating: purser_event(), count: Self.batch)
        while true {
            let count = purser_epoll_wait(epoll, &events, Int32(Self.batch), 100)
            for event in events.prefix(max(0, Int(count))) {
                if event.key == Self.inboxKey { obey() } else { serve(event) }
            }
            let now = ContinuousClock.now
            if now >= nextTick {
                nextTick = now + Self.tick
                for peer in Array(peers.values) {
                    peer.checkDeadlines(now)
                    settle(peer)
                }
            }
            if let stopAt, peers.isEmpty || now >= stopAt { break }
        }
        for peer in peers.values { peer.release() }
        inbox.shut()
        close(epoll)
    }

    private mutating func obey() {
        for command in inbox.take() {
            switch command {
            case .adopt(let new): adopt(new)
            case .answered(let key, let answer):
                guard let peer = peers[key] else { continue }
                peer.answer(answer)
                settle(peer)
            case .stop(let deadline):
                stopAt = min(stopAt ?? deadline, deadline)
                for peer in Array(peers.values) {
                    peer.leave()
                    settle(peer)
                }
            }
        }
    }

    private mutating func adopt(_ new: NewWebSocket) {
        lastKey += 1
        guard let peer = WebSocketPeer(new, limits, buffered) else {
            close(new.socket.descriptor)
            return
        }
        peer.key = lastKey
        let status = purser_epoll_set(
            epoll, Int32(purser_epoll_add), peer.descriptor, lastKey, 1, 0)
        guard status == 0 else {
            peer.release()
            return
        }
        peers[lastKey] = peer
        if stopAt != nil { peer.leave() }
        // What came along with the request is not announced by the socket.
        peer.readable()
        settle(peer)
    }

    private mutating func serve(_ event: purser_event) {
        guard let peer = peers[event.key] else { return }
        if event.flags & UInt32(purser_epoll_gone) != 0 {
            peer.isGone = true
        } else {
            if event.flags & UInt32(purser_epoll_writable) != 0 { peer.writable() }
            peer.readable()
        }
        settle(peer)
    }

    /// After anything happened to a peer: its message is handed out, its wishes are told to the system.
    private mutating func settle(_ peer: WebSocketPeer) {
        if let message = peer.takeMessage() {
            let (key, inbox, handler) = (peer.key, inbox, peer.handler)
            Task { inbox.post(.answered(key: key, await handler(message))) }
        }
        if peer.isGone {
            peers[peer.key] = nil
            peer.release()
            return
        }
        let wishes = (peer.wantsToRead, peer.wantsToWrite)
        guard wishes != peer.told else { return }
        peer.told = wishes
        _ = purser_epoll_set(
            epoll, Int32(purser_epoll_modify), peer.descriptor, peer.key, wishes.0 ? 1 : 0,
            wishes.1 ? 1 : 0)
    }
}

/// Bytes of messages that are being received or answered, of all sockets. Belongs to the loop's thread.
package final class WebSocketBudget {
    /// Bytes.
    package var used = 0
    /// Nothing used yet.
    package init() {}
}
