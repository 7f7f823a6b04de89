import HTTPServer
import JSON
import Synchronization

/// A backend that answers verify with a list of prepared answers, one after the other (the last one for ever), and
/// everything else as if all were well. It remembers what it was asked.
final class ScriptedBackend: Sendable {
    struct Answer: Sendable {
        var status: Int
        var body: JSONObject
        var headers: [(String, String)] = []

        static func granted(_ status: String = "GRANTED", balance: Int64 = 60) -> Answer {
            Answer(
                status: 200,
                body: [
                    "status": .string(status), "transactionId": "1", "balance": ["danbing": .integer(balance)],
                ])
        }

        static func problem(_ status: Int, _ code: String, mayFinish: Bool = false, retryAfter: Int64? = nil) -> Answer
        {
            Answer(
                status: status,
                body: ["code": .string(code), "detail": "for a test", "mayFinish": .bool(mayFinish)],
                headers: retryAfter.map { [("Retry-After", String($0))] } ?? [])
        }
    }

    private struct State {
        var answers: [Answer]
        var submissions: [(path: String, orderNumber: String?)] = []
        var orders = 0
    }

    private final class Memory: Sendable {
        let state: Mutex<State>
        init(_ answers: [Answer]) { state = Mutex(State(answers: answers)) }
    }

    private let memory: Memory
    private let server: HTTPServer

    var url: String { "http://127.0.0.1:\(server.port)" }
    var submissions: [(path: String, orderNumber: String?)] { memory.state.withLock { $0.submissions } }

    init(_ answers: [Answer]) throws {
        let memory = Memory(answers)
        self.memory = memory
        server = try HTTPServer.start(HTTPServer.Configuration(), bodyLimit: { _, _ in 1 << 20 }) { request in
            let answer = Self.answer(request, memory)
            return HTTPResponse(status: answer.status, headers: answer.headers, body: JSONWriter.write(answer.body))
        }
    }

    private static func answer(_ request: HTTPRequest, _ memory: Memory) -> Answer {
        let body = (try? JSONReader.parseObject(request.body)) ?? [:]
        return memory.state.withLock { state in
            switch request.path {
            case "/api/iap/orders":
                state.orders += 1
                let digits = String(1_000_000_000_000 + state.orders).dropFirst()
                return Answer(
                    status: 200,
                    body: [
                        "orderNo": .string("IAP\(state.orders)"), "appleProductId": body["appleProductId"] ?? "",
                        "appAccountToken": .string("550e8400-e29b-41d4-a716-\(digits)"),
                    ])
            case "/api/wallet/balance":
                return Answer(status: 200, body: ["danbing": 7])
            default:
                state.submissions.append((request.path, body["orderNo"]?.stringValue))
                return state.answers.count > 1 ? state.answers.removeFirst() : state.answers[0]
            }
        }
    }

    func stop() { server.stop(grace: .zero) }
}
