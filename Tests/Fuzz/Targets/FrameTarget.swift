import Glibc
import TestSupport
import WebSocket

/// What a WebSocket's peer sends after the handshake: frames, damaged frames, noise.
///
/// Every message that comes out has at most the allowed length, and no bytes stay counted when the socket is gone.
struct FrameTarget: FuzzTarget {
    let seeds: [[UInt8]]
    let words = ["\u{82}\u{80}\u{0}\u{0}\u{0}\u{0}", "\u{2}\u{81}", "\u{0}\u{80}", "\u{89}\u{80}", "\u{88}\u{82}"]
    let longest = 32 << 10
    private let limits: WebSocketLimits
    private let budget = WebSocketBudget()

    init(_ files: FuzzFiles) {
        var limits = WebSocketLimits()
        (limits.maximumMessageBytes, limits.maximumBufferedBytes, limits.maximumFragments) = (8_192, 16_384, 8)
        self.limits = limits
        let long = [UInt8](repeating: 0x5A, count: 300)
        seeds =
            [
                Self.frame(0x82, [1, 2, 3]), Self.frame(0x82, long), Self.frame(0x82, []),
                Self.frame(0x02, [1]) + Self.frame(0x89, [9]) + Self.frame(0x00, [2]) + Self.frame(0x80, [3]),
                Self.frame(0x88, [3, 0xE8]), Self.frame(0x81, [65]), Self.frame(0x8A, []),
                [0x82, 0xFF, 0, 0, 0, 0, 0, 1, 0, 0, 1, 2, 3, 4] + long,
            ] + files.corpus("frame")
    }

    private static func frame(_ first: UInt8, _ payload: [UInt8]) -> [UInt8] {
        let length: [UInt8] =
            payload.count < 126
            ? [0x80 | UInt8(payload.count)] : [0xFE, UInt8(payload.count >> 8), UInt8(payload.count & 0xFF)]
        return [first] + length + [0, 0, 0, 0] + payload
    }

    mutating func run(_ input: [UInt8]) throws(Violation) -> Bool {
        var ends: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
            throw Violation(what: "no socket pair: \(errno)")
        }
        defer { close(ends[1]) }
        guard let peer = WebSocketPeer(descriptor: ends[0], limits: limits, budget: budget) else {
            throw Violation(what: "no memory")
        }
        _ = send(ends[1], input, input.count, Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL))
        shutdown(ends[1], Int32(SHUT_WR))
        var messages = 0
        // Every turn takes something, or the socket is over.
        for _ in 0...input.count {
            peer.readable()
            guard let message = peer.takeMessage() else { break }
            messages += 1
            let isAllowed = message.count <= limits.maximumMessageBytes
            if isAllowed { peer.answer(.message([UInt8(messages & 0xFF)])) }
            guard isAllowed else {
                peer.release()
                throw Violation(what: "a message of \(message.count) bytes came out")
            }
        }
        // That nobody sends any more may be the next thing that the socket announces.
        peer.readable()
        let isOver = peer.isOver
        peer.release()
        try Violation.unless(isOver, "the socket waits for a peer that is gone")
        try Violation.unless(budget.used == 0, "\(budget.used) bytes stay counted")
        return messages > 0
    }
}
