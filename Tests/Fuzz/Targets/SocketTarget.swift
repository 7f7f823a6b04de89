import Glibc
import HTTPServer
import Synchronization
import TestSupport

/// The whole HTTP server over a real socket. Every answer is HTTP, no handler gets what it should not, and a neighbour's
/// requests are answered all the while.
struct SocketTarget: FuzzTarget {
    let seeds: [[UInt8]]
    let words = HTTPWords.all
    let longest = 64 << 10
    private let server: HTTPServer
    private let handled = Handled()
    private let neighbour: RawClient
    private var number = 0

    /// What handlers saw.
    private final class Handled: Sendable {
        private let state = Mutex((count: 0, violation: String?.none))

        func take() -> (count: Int, violation: String?) {
            state.withLock { state in
                defer { state.count = 0 }
                return state
            }
        }

        func note(_ request: HTTPRequest) {
            var violation: String?
            do throws(Violation) {
                try HTTPWords.check(method: request.method, path: request.path, headers: request.headers)
                try Violation.unless(request.body.count <= 1_024, "a body over its limit")
            } catch {
                violation = error.what
            }
            state.withLock {
                $0.count += request.path == "/neighbour" ? 0 : 1
                $0.violation = violation ?? $0.violation
            }
        }
    }

    init(_ files: FuzzFiles) throws {
        seeds = HTTPWords.requests + files.corpus("http")
        let handled = handled
        server = try HTTPServer.start(HTTPServer.Configuration(), bodyLimit: { _, _ in 1_024 }) { request in
            handled.note(request)
            return HTTPResponse.text(200, "ok")
        }
        neighbour = try RawClient(port: server.port)
    }

    mutating func run(_ input: [UInt8]) throws(Violation) -> Bool {
        let answer: [UInt8]
        do { answer = try exchange(input) } catch { throw Violation(what: "the server cannot be reached: \(error)") }
        try Violation.unless(
            answer.isEmpty || answer.starts(with: Array("HTTP/1.1 ".utf8)), "an answer that is no HTTP")
        try awaitEnd()
        let (count, violation) = handled.take()
        if let violation { throw Violation(what: violation) }
        let lines = Self.occurrences(of: Array("HTTP/1.".utf8), in: input)
        try Violation.unless(count <= lines, "\(count) requests were handled, \(lines) were sent")
        number += 1
        if number % 16 == 0 { try askNeighbour() }
        return count > 0
    }

    /// Until the server has given the connection back, which it must: only then nothing of it is handled any more.
    private func awaitEnd() throws(Violation) {
        let server = server
        let isOver: Void? = try? eventually(within: .seconds(10), every: .microseconds(200)) {
            server.openConnections <= 1 && server.requestsInFlight == 0
        }
        try Violation.unless(isOver != nil, "a connection is kept though its client is gone")
    }

    private func askNeighbour() throws(Violation) {
        neighbour.send("GET /neighbour HTTP/1.1\r\nHost: a\r\n\r\n")
        let answer = try? neighbour.answer()
        try Violation.unless(answer?.status == 200, "a neighbour's request is not answered")
    }

    /// Sends, and takes what is answered at once; an input that is no whole request is not waited for.
    private func exchange(_ input: [UInt8]) throws -> [UInt8] {
        let client = try RawClient(port: server.port)
        client.send(input)
        let answer = client.arrived(within: .milliseconds(4))
        client.disconnect()
        return answer
    }

    private static func occurrences(of word: [UInt8], in bytes: [UInt8]) -> Int {
        guard bytes.count >= word.count else { return 0 }
        return (0...(bytes.count - word.count)).count { bytes[$0] == word[0] && bytes[$0...].starts(with: word) }
    }
}
