import WebSocket

/// A message of a WebSocket that asks something: a request of its own, with a caller, limits and a line in the log.
struct SocketQuestion: Sendable {
    /// What stands for the route in logs and metrics.
    let route: String
    /// What it is about.
    let subject: Endpoint.Subject
    /// The bytes of the answer, or a problem.
    let answer: @Sendable (Call) async throws(Problem) -> [UInt8]
    /// The bytes that tell a problem, in the words of the surface; the text is the request's id.
    let refusal: @Sendable (Problem, String) -> [UInt8]
}

/// What the bytes of a message are.
enum SocketReading: Sendable {
    /// A question.
    case question(SocketQuestion)
    /// Nothing that can be answered: the socket is closed.
    case unreadable(WebSocketCloseCode, reason: String)
}

/// How a surface reads the messages of its sockets.
struct SocketReader: Sendable {
    /// The routes of all its questions.
    let routes: [String]
    /// Reads one message.
    let read: @Sendable ([UInt8]) -> SocketReading
}
