import CCurl
import Glibc

/// Receives an answer piece by piece from libcurl, on the thread that performs the request.
final class AnswerCollector {
    private(set) var headers: [(name: String, value: String)] = []
    private(set) var body: [UInt8] = []
    private(set) var isTooLarge = false
    /// Whether a connection to an address within this machine or its networks was refused.
    private(set) var hasRefusedPeer = false
    private let limit: Int
    private var headerBytes = 0

    /// More header bytes than this are no answer of a server we talk to.
    private static let headerLimit = 64 << 10

    init(limit: Int) {
        self.limit = limit
    }

    static let takeBody: @convention(c) (UnsafeMutablePointer<CChar>?, Int, Int, UnsafeMutableRawPointer?) -> Int = {
        bytes, size, count, context in
        collect(bytes, size, count, context) { $0.appendBody($1) }
    }

    static let takeHeader: @convention(c) (UnsafeMutablePointer<CChar>?, Int, Int, UnsafeMutableRawPointer?) -> Int = {
        bytes, size, count, context in
        collect(bytes, size, count, context) { $0.appendHeader($1) }
    }

    /// - Returns: the number of bytes taken; 0 makes libcurl end the transfer.
    private static func collect(
        _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?,
        _ take: (AnswerCollector, UnsafeRawBufferPointer) -> Bool
    ) -> Int {
        guard let context else { return 0 }
        let answer = Unmanaged<AnswerCollector>.fromOpaque(context).takeUnretainedValue()
        let piece = UnsafeRawBufferPointer(start: bytes, count: size * count)
        return take(answer, piece) ? piece.count : 0
    }

    private func appendBody(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard bytes.count <= limit - body.count else {
            isTooLarge = true
            return false
        }
        body.append(contentsOf: bytes)
        return true
    }

    private func appendHeader(_ bytes: UnsafeRawBufferPointer) -> Bool {
        headerBytes += bytes.count
        guard headerBytes <= Self.headerLimit else {
            isTooLarge = true
            return false
        }
        let line = String(decoding: bytes, as: UTF8.self)
        if line.hasPrefix("HTTP/") {
            // A status line: what came before it belonged to an interim answer (100 Continue).
            headers = []
        } else if let colon = line.utf8.firstIndex(of: UInt8(ascii: ":")) {
            headers.append((Self.trimmed(line[..<colon]), Self.trimmed(line[line.index(after: colon)...])))
        }
        return true
    }

    /// Opens a socket to a public address only; called for each address of a name, before anything is sent.
    static let openSocket: curl_opensocket_callback = { context, _, peer in
        guard let context, let peer, let address = purser_curl_peer(peer) else { return -1 }
        guard !PeerAddress.isPrivate(address) else {
            Unmanaged<AnswerCollector>.fromOpaque(context).takeUnretainedValue().hasRefusedPeer = true
            return -1
        }
        return socket(peer.pointee.family, peer.pointee.socktype | Int32(SOCK_CLOEXEC.rawValue), peer.pointee.protocol)
    }

    private static func trimmed(_ text: Substring) -> String {
        let isSpace: (Character) -> Bool = { $0 == " " || $0 == "\t" || $0 == "\r" || $0 == "\n" || $0 == "\r\n" }
        var text = text
        while let first = text.first, isSpace(first) { text.removeFirst() }
        while let last = text.last, isSpace(last) { text.removeLast() }
        return String(text)
    }
}
