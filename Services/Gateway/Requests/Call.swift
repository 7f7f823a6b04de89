import HTTPServer
import JSON
import Messages

/// A request that passed the door: an app, a route and a caller are known, the body is a JSON object.
struct Call: Sendable {
    /// The app that was called.
    let app: ServedApp
    /// Who calls; nil where no token is asked for.
    let caller: Caller?
    /// The body; without members for calls that have none, or read it themselves.
    let body: JSONObject
    /// The body as it came.
    let content: [UInt8]
    /// Query parameters in order.
    let query: [(name: String, value: String)]
    /// What the template's parameters stand for.
    let parameters: [String: String]
    /// Server-made; unique among waiting questions.
    let correlationID: String

    /// The caller as a user; for endpoints that take login tokens only.
    var userID: UserID { UserID(caller?.subject ?? "") }

    /// Who the caller is to starter offers; nil where the app has none.
    var identities: [IdentityHash]? { caller.flatMap { app.identities.hashes(of: $0) } }

    /// The transaction that the path names. Apple's ids are digits that fit 64 bits; anything else cannot exist and is not
    /// worth a question.
    func transactionID() throws(Problem) -> TransactionID {
        let id = parameters["transactionId"] ?? ""
        guard (1...20).contains(id.utf8.count), id.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            throw Problem(.transactionNotFound)
        }
        return TransactionID(id)
    }

    /// The value of the first query parameter with this name.
    func queryValue(_ name: String) -> String? { query.first { $0.name == name }?.value }
}

/// One call of a surface.
struct Endpoint: Sendable {
    /// What a call is about; decides what an unanswered one means.
    enum Subject: Sendable {
        /// A purchase: answers say whether the transaction may be finished.
        case purchase
        /// Anything else.
        case other
    }

    /// The template of the path, for routing, logs and metrics.
    let route: String
    /// The kind of token it takes; nil: everybody may call.
    let token: TokenKind?
    /// Longest body in bytes; nil if the call has none, or reads it itself.
    let bodyLimit: Int?
    /// What it is about.
    let subject: Subject
    /// Answers with the body of the 200 (nil: an empty one), or with a problem.
    let answer: @Sendable (Call) async throws(Problem) -> JSONObject?
    /// Set if the request becomes a WebSocket instead.
    var socket: SocketReader?
}
