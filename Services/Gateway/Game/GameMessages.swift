import GameProtocol
import JSON
import WebSocket

/// The game's messages over a WebSocket: reads the questions, writes the answers.
struct GameMessages: Sendable {
    let surface: GameSurface

    /// What the questions are called in logs and metrics.
    static let verifyRoute = GameSurface.socketRoute + " C2S_IAPVerify"
    static let historyRoute = GameSurface.socketRoute + " C2S_IAPHistory"

    /// Reads messages of sockets.
    var reader: SocketReader {
        SocketReader(routes: [Self.verifyRoute, Self.historyRoute]) { bytes in
            do throws(GameMessageError) {
                switch try GameMessage(bytes) {
                case .verify(let question): return .question(verify(question))
                case .history(let question): return .question(history(question))
                case .verified, .records:
                    return .unreadable(.unknownMessage, reason: "only the server says this")
                }
            } catch {
                return Self.unreadable(error)
            }
        }
    }

    /// After what cannot be read nobody knows which question the next answer belongs to: the socket is closed.
    private static func unreadable(_ error: GameMessageError) -> SocketReading {
        switch error {
        case .unknownID(let id): .unreadable(.unknownMessage, reason: "no message has the id \(id)")
        case .tooShort: .unreadable(.malformedMessage, reason: "a message begins with an id of two bytes")
        case .malformed: .unreadable(.malformedMessage, reason: "it is not the protobuf of its id")
        case .tooManyFields: .unreadable(.malformedMessage, reason: "it has more fields than any message")
        }
    }

    private func verify(_ question: VerifyQuestion) -> SocketQuestion {
        SocketQuestion(route: Self.verifyRoute, subject: .purchase) { (call) throws(Problem) in
            let body = try ReceiptBody(question)
            return GameMessage.verified(try await surface.verify(body, call)).encoded()
        } refusal: { problem, id in
            GameMessage.verified(
                VerifyAnswer(
                    code: GameCode.number(of: problem), message: Self.text(problem, id),
                    productID: question.productID, finish: problem.mayFinish ?? false,
                    retryAfter: Self.retryAfter(problem))
            ).encoded()
        }
    }

    private func history(_ question: HistoryQuestion) -> SocketQuestion {
        SocketQuestion(route: Self.historyRoute, subject: .other) { (call) throws(Problem) in
            let page = try HistoryPage(limit: Int64(question.limit), cursor: question.cursor)
            return GameMessage.records(try await surface.history(page, call)).encoded()
        } refusal: { problem, id in
            GameMessage.records(
                HistoryAnswer(
                    code: GameCode.number(of: problem), message: Self.text(problem, id),
                    retryAfter: Self.retryAfter(problem))
            ).encoded()
        }
    }

    /// For the client's log: the code in words, the finer reason, and the name of the request in our logs.
    private static func text(_ problem: Problem, _ id: String) -> String {
        let reason = problem.members["reason"]?.stringValue.map { " \($0)" } ?? ""
        return "\(problem.code.rawValue)\(reason) (request \(id))"
    }

    private static func retryAfter(_ problem: Problem) -> Int32 {
        Int32(clamping: problem.retryAfterSeconds ?? ProblemCatalog.entry(for: problem.code).retryAfterSeconds ?? 0)
    }
}
