import Observability
import Testing

@testable import AMQP

@Suite struct AMQPEndpointTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let url: String
        let host: String
        let port: Int
        let user: String
        let password: String
        let virtualHost: String
        var testDescription: String { url }
    }

    @Test(arguments: [
        Case(url: "amqp://h", host: "h", port: 5672, user: "guest", password: "guest", virtualHost: "/"),
        Case(url: "amqp://h/", host: "h", port: 5672, user: "guest", password: "guest", virtualHost: "/"),
        Case(url: "amqp://u:p@h:1/v", host: "h", port: 1, user: "u", password: "p", virtualHost: "v"),
        Case(url: "amqp://u:p%40%2F@h/%2f", host: "h", port: 5672, user: "u", password: "p@/", virtualHost: "/"),
        Case(url: "amqp://u:a@b@h/v%20w", host: "h", port: 5672, user: "u", password: "a@b", virtualHost: "v w"),
        Case(url: "amqp://u@[::1]:99/v", host: "::1", port: 99, user: "u", password: "", virtualHost: "v"),
        Case(url: "amqps://u:p@h/v", host: "h", port: 5671, user: "u", password: "p", virtualHost: "v"),
    ])
    func `a URL gives its parts`(_ expected: Case) throws {
        let endpoint = try AMQPEndpoint(url: expected.url)
        #expect(endpoint.host == expected.host)
        #expect(endpoint.port == expected.port)
        #expect(endpoint.user == expected.user)
        #expect(endpoint.password.reveal() == expected.password)
        #expect(endpoint.virtualHost == expected.virtualHost)
        #expect((endpoint.tls != nil) == expected.url.hasPrefix("amqps"))
        #expect(endpoint.heartbeat == 10)
    }

    @Test func `query parameters set heartbeat and TLS files`() throws {
        let endpoint = try AMQPEndpoint(url: "amqps://h/v?heartbeat=5&cacertfile=/ca%20s.pem&certfile=c&keyfile=k")
        #expect(endpoint.heartbeat == 5)
        #expect(endpoint.virtualHost == "v")
        #expect(endpoint.tls == .init(authorityFile: "/ca s.pem", certificateFile: "c", keyFile: "k"))
    }

    @Test(arguments: [
        "", "http://h", "amqp://", "amqp://u:secret@", "amqp://u:secret@h:0", "amqp://u:secret@h:65536",
        "amqp://u:secret@h:x", "amqp://u:secret@[::1", "amqp://u:secret%@h", "amqp://u:secret%zz@h",
        "amqp://u:secret%ff@h", "amqp://u:secret%00@h", "amqp://u:secret@h?heartbeat=0", "amqp://u:secret@h?x=1",
        "amqp://u:secret@h?heartbeat=65536",
    ])
    func `a bad URL is refused without quoting it`(_ url: String) {
        let error = #expect(throws: AMQPError.self) { try AMQPEndpoint(url: url) }
        #expect(error?.code == "amqp.invalid_url")
        #expect(error?.isRetryable == false)
        #expect(error?.description.contains("secret") == false)
    }
}
