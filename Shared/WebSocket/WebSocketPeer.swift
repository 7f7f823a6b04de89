import CWslay
import Glibc
import HTTPServer

/// One socket: reads frames into messages, answers, keeps its deadlines. Belongs to the loop's thread.
package final class WebSocketPeer {
    var key: UInt64 = 0
    let descriptor: Int32
    let handler: WebSocketHub.Handler
    /// Nothing can be done with it any more.
    var isGone = false
    /// What the system was told last: read, write.
    var told = (true, false)

    private let limits: WebSocketLimits
    private let budget: WebSocketBudget
    private let place: WebSocketPlace?
    private let expiresAt: ContinuousClock.Instant?
    private let frames: WebSocketFrames
    private var assembly = MessageAssembly()
    private var control: [UInt8] = []
    /// Of the frame that is being read.
    private var rest: UInt64?
    /// A whole message that nobody has taken.
    private var message: [UInt8]?
    /// Bytes of the message that is being answered: counted until it is, since its copy is somewhere until then.
    private var inHand = 0
    /// A handler works on one.
    private var isBusy = false
    /// It is closed as soon as the message in hand is answered.
    private var isLeaving = false
    /// Our close frame is on its way: what comes is thrown away.
    private var isClosing = false
    private var sent = 0

    private var heard = ContinuousClock.now
    private var asked: ContinuousClock.Instant?
    private var began: ContinuousClock.Instant?
    private var blocked: ContinuousClock.Instant?
    private var closing: ContinuousClock.Instant?

    init?(_ new: NewWebSocket, _ limits: WebSocketLimits, _ budget: WebSocketBudget) {
        guard let frames = WebSocketFrames(new.socket.descriptor, early: new.socket.received) else { return nil }
        descriptor = new.socket.descriptor
        handler = new.handler
        place = new.place
        expiresAt = new.expiresAt
        self.limits = limits
        self.budget = budget
        self.frames = frames
    }

    /// For tests of the reader: a socket without a loop.
    package convenience init?(descriptor: Int32, limits: WebSocketLimits, budget: WebSocketBudget) {
        let socket = UpgradedSocket(descriptor: descriptor, received: [])
        self.init(
            NewWebSocket(socket: socket, place: nil, expiresAt: nil, handler: { .message($0) }), limits, budget)
    }

    var wantsToRead: Bool { !isBusy }
    var wantsToWrite: Bool { sent < frames.outgoing.count }

    /// The message that is complete, once; no other is read before ``answer(_:)``.
    package func takeMessage() -> [UInt8]? {
        guard let message else { return nil }
        self.message = nil
        return message
    }

    /// Whether the socket is over.
    package var isOver: Bool { isGone || isClosing }

    /// Closes the descriptor and gives the counted bytes back. The last call.
    package func release() {
        budget.used -= assembly.bytes.count + inHand
        assembly = MessageAssembly()
        inHand = 0
        Glibc.close(descriptor)
    }

    // MARK: Reading

    /// The socket has something to read, or may go on with what was read.
    package func readable() {
        guard !isBusy, !isGone else { return }
        frames.beginTurn(limits.bytesPerTurn)
        while !isBusy, !isGone {
            switch frames.next() {
            case .piece(let piece): if !isClosing { take(piece) }
            case .malformed:
                guard !isClosing else {
                    // Thrown away anyway; but nothing more can be told apart.
                    isGone = !wantsToWrite
                    return
                }
                close(.protocolError, "no frame of a WebSocket")
                return
            case .nothing:
                if frames.isAtEnd { isGone = true }
                return
            }
        }
    }

    private func take(_ piece: WebSocketFrames.Piece) {
        if rest == nil {
            guard begins(piece) else { return }
            rest = piece.length
        }
        rest? -= UInt64(piece.data.count)
        if piece.opcode >= 8 {
            control.append(contentsOf: piece.data)
        } else {
            guard budget.used + piece.data.count <= limits.maximumBufferedBytes else {
                close(.tryAgainLater, "too many messages are being received")
                return
            }
            budget.used += piece.data.count
            assembly.bytes.append(contentsOf: piece.data)
        }
        guard rest == 0 else { return }
        rest = nil
        heard = .now
        asked = nil
        if piece.opcode >= 8 { obey(piece.opcode) } else if piece.isFinal { complete() }
    }

    /// Judges a frame by its head.
    private func begins(_ piece: WebSocketFrames.Piece) -> Bool {
        guard piece.isMasked, piece.reserved == 0 else {
            close(.protocolError, "not masked, or reserved bits set")
            return false
        }
        switch UInt32(piece.opcode) {
        case WSLAY_PING.rawValue, WSLAY_PONG.rawValue, WSLAY_CONNECTION_CLOSE.rawValue:
            guard piece.isFinal, piece.length <= 125 else {
                close(.protocolError, "a control frame too long or in pieces")
                return false
            }
            control = []
            return true
        case WSLAY_TEXT_FRAME.rawValue:
            close(.unsupportedData, "binary messages only")
            return false
        case WSLAY_BINARY_FRAME.rawValue, WSLAY_CONTINUATION_FRAME.rawValue:
            let isFirst = UInt32(piece.opcode) == WSLAY_BINARY_FRAME.rawValue
            guard isFirst != assembly.isOpen else {
                close(.protocolError, "a fragment without its beginning, or a beginning in the middle")
                return false
            }
            guard piece.length <= UInt64(limits.maximumMessageBytes - assembly.bytes.count) else {
                close(.messageTooBig, "at most \(limits.maximumMessageBytes) bytes")
                return false
            }
            assembly.isOpen = true
            assembly.fragments += 1
            guard assembly.fragments <= limits.maximumFragments else {
                close(.policyViolation, "at most \(limits.maximumFragments) fragments")
                return false
            }
            if began == nil { began = .now }
            return true
        default:
            close(.protocolError, "an unknown kind of frame")
            return false
        }
    }

    private func complete() {
        message = assembly.bytes
        inHand = assembly.bytes.count
        assembly = MessageAssembly()
        began = nil
        isBusy = true
    }

    private func obey(_ opcode: UInt8) {
        switch UInt32(opcode) {
        case WSLAY_PING.rawValue: send(WSLAY_PONG, control)
        case WSLAY_CONNECTION_CLOSE.rawValue:
            // Its own code comes back, if it is one that may be sent.
            let code = control.count >= 2 ? UInt16(control[0]) << 8 | UInt16(control[1]) : 1_000
            let isKnown = (1_000...1_003).contains(code) || (1_007...1_014).contains(code)
            let isValid = control.count != 1 && (isKnown || (3_000...4_999).contains(code))
            close(code: isValid ? code : WebSocketCloseCode.protocolError.rawValue, reason: [])
        default: break
        }
        control = []
    }

    // MARK: Writing

    /// The answer to the message that was taken.
    package func answer(_ answer: WebSocketAnswer) {
        guard isBusy else { return }
        isBusy = false
        budget.used -= inHand
        inHand = 0
        heard = .now
        switch answer {
        case .message(let bytes): if !isClosing { send(WSLAY_BINARY_FRAME, bytes) }
        case .close(let code, let reason): close(code, reason)
        }
        if isLeaving { leave() }
        // What was read along with the last message is not announced by the socket.
        readable()
    }

    /// The server stops: what is being answered is still answered, nothing more is begun.
    func leave() {
        isLeaving = true
        if !isBusy { close(.goingAway, "the server stops") }
    }

    /// Says why, and waits a little for the peer to close.
    func close(_ code: WebSocketCloseCode, _ reason: String) {
        // Control frames have at most 125 bytes, two of them the code.
        close(code: code.rawValue, reason: Array(reason.utf8.prefix(123)))
    }

    private func close(code: UInt16, reason: [UInt8]) {
        guard !isClosing, !isGone else { return }
        budget.used -= assembly.bytes.count
        assembly = MessageAssembly()
        began = nil
        frames.write(WSLAY_CONNECTION_CLOSE, [UInt8(code >> 8), UInt8(code & 0xFF)] + reason)
        isClosing = true
        closing = .now
        writable()
    }

    private func send(_ opcode: wslay_opcode, _ payload: [UInt8]) {
        guard frames.outgoing.count - sent + payload.count <= limits.maximumQueuedBytes else {
            // It asks and does not read the answers.
            isGone = true
            return
        }
        frames.write(opcode, payload)
        writable()
    }

    /// The socket takes something.
    func writable() {
        while sent < frames.outgoing.count {
            let count = frames.outgoing.withUnsafeBufferPointer { bytes in
                bytes.baseAddress.map {
                    Glibc.send(descriptor, $0 + sent, bytes.count - sent, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
                } ?? 0
            }
            if count > 0 {
                sent += count
                blocked = nil
            } else if errno == EAGAIN {
                if blocked == nil { blocked = .now }
                return
            } else if errno != EINTR {
                isGone = true
                return
            }
        }
        // An idle socket keeps no buffer.
        frames.outgoing = []
        sent = 0
        blocked = nil
        if isClosing { shutdown(descriptor, Int32(SHUT_WR)) }
    }

    // MARK: Deadlines

    func checkDeadlines(_ now: ContinuousClock.Instant) {
        if let blocked, now - blocked > limits.writeDeadline { isGone = true }
        if let closing {
            if now - closing > limits.closeDeadline { isGone = true }
            return
        }
        if let expiresAt, now >= expiresAt, !isBusy { return close(.loginExpired, "the login has expired") }
        if let began, now - began > limits.messageDeadline {
            return close(.policyViolation, "a message took too long")
        }
        guard !isBusy else { return }
        if let asked {
            if now - asked > limits.pongWithin { isGone = true }
        } else if now - heard > limits.pingAfter {
            asked = now
            send(WSLAY_PING, [])
        }
    }
}

/// A message that is being received.
private struct MessageAssembly {
    var bytes: [UInt8] = []
    var fragments = 0
    var isOpen = false
}
