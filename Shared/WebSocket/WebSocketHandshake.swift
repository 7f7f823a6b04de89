import Crypto
package import HTTPServer
import JOSE

/// Why a request cannot become a WebSocket.
public enum WebSocketRefusal: Error, Sendable, Equatable {
    /// It does not ask for one: 426.
    case upgradeRequired
    /// It asks wrongly: 400.
    case malformed(reason: String)
    /// This address has too many: 429.
    case tooManyOfAddress
    /// There are too many: 503.
    case tooMany

    /// A stable dotted name.
    public var code: String {
        switch self {
        case .upgradeRequired: "websocket.upgrade_required"
        case .malformed: "websocket.malformed"
        case .tooManyOfAddress: "websocket.too_many_of_address"
        case .tooMany: "websocket.too_many"
        }
    }

    /// Whether the same request may be accepted later.
    public var isRetryable: Bool { self == .tooMany || self == .tooManyOfAddress }

    /// The status that tells it.
    public var status: Int {
        switch self {
        case .upgradeRequired: 426
        case .malformed: 400
        case .tooManyOfAddress: 429
        case .tooMany: 503
        }
    }
}

/// The opening handshake (RFC 6455 §4.2).
package enum WebSocketHandshake {
    /// Joined to the client's key, to prove that the server knows what it answers (RFC 6455 §1.3).
    private static let name = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"

    /// The fields of the answer 101.
    package static func accept(_ request: HTTPRequest) throws(WebSocketRefusal) -> [(String, String)] {
        guard lists(request, "Upgrade", "websocket"), lists(request, "Connection", "upgrade") else {
            throw .upgradeRequired
        }
        guard request.method == "GET", request.body.isEmpty else { throw .malformed(reason: "not a GET without body") }
        guard request.headerValues("Sec-WebSocket-Version") == ["13"] else { throw .upgradeRequired }
        let keys = request.headerValues("Sec-WebSocket-Key")
        guard keys.count == 1, let key = keys.first, Base64.decode(key)?.count == 16 else {
            throw .malformed(reason: "Sec-WebSocket-Key is not base64 of 16 bytes")
        }
        guard let proof = try? MessageDigest.sha1.hash(Array((key + name).utf8)[...]) else {
            throw .malformed(reason: "SHA-1 is not available on this machine")
        }
        return [("Upgrade", "websocket"), ("Sec-WebSocket-Accept", Base64.encode(proof))]
    }

    private static func lists(_ request: HTTPRequest, _ field: String, _ word: String) -> Bool {
        request.headerValues(field).contains { value in
            value.split(separator: ",").contains { item in
                let text = item.drop { $0 == " " || $0 == "\t" }.reversed().drop { $0 == " " || $0 == "\t" }.reversed()
                return String(text).lowercased() == word
            }
        }
    }
}
