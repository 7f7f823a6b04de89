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
        var configuration = HTTPServer.Configuration()
        // libmicrohttpd does not always see that a client is gone which sent its last bytes and the end at once: such a
        // connection is kept until its deadline.
        configuration.headDeadline = .seconds(1)
        configuration.bodyDeadline = .seconds(1)
        configuration.answerDeadline = .seconds(1)
        server = try HTTPServer.start(configuration, bodyLimit: { _, _ in 1_024 }) { request in
            handled.note(request)
            return HTTPResponse.text(200, "ok")
        }
    }

    mutating func run(_ input: [UInt8]) throws(Violation) -> Bool {
        let answer: [UInt8]
        do { answer = try exchange(input) } catch { throw Violation(what: "the server cannot be reached: \(error)") }
        try Violation.unless(
            answer.isEmpty || answer.starts(with: Array("HTTP/1.1 ".utf8)), "an answer that is no HTTP")
        // Connections are accepted in turn: once the neighbour is answered, the server has met this one too.
        try askNeighbour()
        try awaitEnd()
        let (count, violation) = handled.take()
        if let violation { throw Violation(what: violation) }
        let lines = Self.occurrences(of: Array("HTTP/1.".utf8), in: input)
        try Violation.unless(count <= lines, "\(count) requests were handled, \(lines) were sent")
        return count > 0
    }

    /// Until the server has given the connection back: only then nothing of it is handled any more. At the latest a little
    /// after its deadline it must.
    private func awaitEnd() throws(Violation) {
        let server = server
        let isOver: Void? = try? eventually(within: .seconds(10), every: .milliseconds(1)) {
            server.openConnections == 0 && server.requestsInFlight == 0
        }
        try Violation.unless(isOver != nil, "a connection is kept beyond its deadline though its client is gone")
    }

    private func askNeighbour() throws(Violation) {
        let neighbour = try? RawClient(port: server.port)
        neighbour?.send("GET /neighbour HTTP/1.1\r\nHost: a\r\n\r\n")
        let answer = try? neighbour?.answer()
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
