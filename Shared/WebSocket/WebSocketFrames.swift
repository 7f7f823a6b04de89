import CWslay
import Glibc

/// Cuts what a socket brings into frames, and writes frames, by libwslay. Belongs to one thread.
final class WebSocketFrames {
    /// A piece of a frame; a short frame is one piece.
    struct Piece {
        let isFinal: Bool
        let reserved: UInt8
        let opcode: UInt8
        let isMasked: Bool
        /// Of the whole frame.
        let length: UInt64
        /// Of this piece, unmasked; valid until the next call.
        let data: UnsafeBufferPointer<UInt8>
    }

    /// What reading gave.
    enum Reading {
        case piece(Piece)
        /// Nothing more for now.
        case nothing
        /// What came is no frame.
        case malformed
    }

    private let descriptor: Int32
    private var context: OpaquePointer?
    /// Read before the socket.
    private var early: ArraySlice<UInt8>
    /// How much may still be read in this turn.
    private var allowance = 0
    /// Whether the peer has said that nothing more comes, or is gone.
    private(set) var isAtEnd = false
    /// Whether the turn ended because the allowance was used up.
    private(set) var isCutShort = false
    /// Frames that are to be sent.
    var outgoing: [UInt8] = []

    /// Nil if memory is exhausted.
    init?(_ descriptor: Int32, early: [UInt8]) {
        self.descriptor = descriptor
        self.early = early[...]
        var callbacks = wslay_frame_callbacks(
            send_callback: Self.send, recv_callback: Self.receive, genmask_callback: nil)
        let owner = Unmanaged.passUnretained(self).toOpaque()
        guard wslay_frame_context_init(&context, &callbacks, owner) == 0 else { return nil }
    }

    deinit { wslay_frame_context_free(context) }

    /// A new turn, in which this many bytes may be read of the socket.
    func beginTurn(_ bytes: Int) {
        allowance = bytes
        isCutShort = false
    }

    func next() -> Reading {
        var frame = wslay_frame_iocb()
        let count = wslay_frame_recv(context, &frame)
        guard count >= 0 else { return count == Int(WSLAY_ERR_WANT_READ.rawValue) ? .nothing : .malformed }
        return .piece(
            Piece(
                isFinal: frame.fin == 1, reserved: frame.rsv, opcode: frame.opcode, isMasked: frame.mask == 1,
                length: frame.payload_length,
                data: UnsafeBufferPointer(start: frame.data, count: Int(frame.data_length))))
    }

    /// Adds a whole frame to what is to be sent.
    func write(_ opcode: wslay_opcode, _ payload: [UInt8]) {
        payload.withUnsafeBufferPointer { bytes in
            var frame = wslay_frame_iocb()
            frame.fin = 1
            frame.opcode = UInt8(opcode.rawValue)
            frame.payload_length = UInt64(bytes.count)
            frame.data = bytes.baseAddress
            frame.data_length = bytes.count
            // Everything is taken at once, see `send`.
            _ = wslay_frame_send(context, &frame)
        }
    }

    private static let receive: wslay_frame_recv_callback = { buffer, length, _, owner in
        guard let buffer, let owner else { return -1 }
        return Unmanaged<WebSocketFrames>.fromOpaque(owner).takeUnretainedValue().receive(buffer, length)
    }

    private static let send: wslay_frame_send_callback = { data, length, _, owner in
        guard let data, let owner else { return -1 }
        let frames = Unmanaged<WebSocketFrames>.fromOpaque(owner).takeUnretainedValue()
        frames.outgoing.append(contentsOf: UnsafeBufferPointer(start: data, count: length))
        return length
    }

    /// Zero and less mean to libwslay that nothing came.
    private func receive(_ buffer: UnsafeMutablePointer<UInt8>, _ length: Int) -> Int {
        if !early.isEmpty {
            let count = min(length, early.count)
            for (place, byte) in early.prefix(count).enumerated() { buffer[place] = byte }
            early = early.dropFirst(count)
            return count
        }
        guard allowance > 0 else {
            isCutShort = true
            return -1
        }
        let count = recv(descriptor, buffer, min(length, allowance), Int32(MSG_DONTWAIT))
        if count > 0 {
            allowance -= count
        } else if count == 0 || errno != EAGAIN && errno != EINTR {
            isAtEnd = true
        }
        return count
    }
}
