import HTTPServer
import JSON
import Messages
import Observability
import Testing

@testable import Gateway

@Suite struct LogTests {
    @Test func `a request leaves one line with its template and nothing a client wrote`() async throws {
        let door = try TestDoor(Samples.everything)
        let response = try await door.send(
            "GET", "/api/iap/transactions/2000000888888888", query: [("secret", "value")],
            more: [("X-Request-Id", "mine 1\u{1B}[31m\n" + String(repeating: "x", count: 100))])
        let lines = try door.log.entries("request")
        #expect(door.log.lines.count == 1)
        let line = try #require(lines.first)
        #expect(line["http.method"] == "GET")
        #expect(line["http.route"] == "/api/iap/transactions/{transactionId}")
        #expect(line["http.status"] == 200)
        #expect(line["app"] == "clouds")
        #expect(line["remote.address"] == "192.0.2.7")
        #expect(line["correlation.id"]?.stringValue == response.header("X-Request-Id"))
        #expect(line["duration.ms"] != nil)
        let own = try #require(line["client.request.id"]?.stringValue)
        #expect(own.hasPrefix("mine1[31mx"))
        #expect(own.utf8.count == 64)
        #expect(!door.log.lines.joined().contains("2000000888888888"))
        #expect(!door.log.lines.joined().contains("value"))
    }

    @Test func `the server's id is used, never the client's`() async throws {
        let door = try TestDoor(Samples.everything)
        let first = try await door.send("GET", "/api/wallet/balance", more: [("X-Request-Id", "same")])
        let second = try await door.send("GET", "/api/wallet/balance", more: [("X-Request-Id", "same")])
        #expect(first.header("X-Request-Id") != second.header("X-Request-Id"))
        #expect(first.header("X-Request-Id")?.count == 36)
    }

    @Test func `a problem's line names its code, an invented method is not repeated`() async throws {
        let door = try TestDoor(Samples.everything)
        _ = try await door.send("POST", "/api/iap/orders", body: "{")
        _ = try await door.send("STEAL", "/api/iap/orders")
        let lines = try door.log.entries("request")
        #expect(lines.map { $0["answer.code"]?.stringValue } == ["MALFORMED_REQUEST", "METHOD_NOT_ALLOWED"])
        #expect(lines.first?["answer.reason"] == "json.unexpected_end")
        #expect(lines.last?["http.method"] == "OTHER")
    }

    @Test(arguments: SecurityEvent.allCases)
    func `an attempt on somebody else's purchase is logged and counted without payload (A-130)`(
        _ event: SecurityEvent
    ) async throws {
        let door = try TestDoor { _, _ in
            PurchaseAnswered(
                status: .refused, code: .transactionAlreadyBound, mayFinish: false, securityEvent: event)
        }
        let response = try await door.send("POST", "/api/iap/apple/verify", body: Samples.verifyBody)
        #expect(response.status == 409)
        let line = try #require(try door.log.entries("security event").first)
        #expect(line["level"] == "warning")
        #expect(line["security.event"]?.stringValue == event.rawValue)
        #expect(line["app"] == "clouds")
        #expect(line["correlation.id"]?.stringValue == response.header("X-Request-Id"))
        #expect(!"\(line)".contains("user-1"))
        #expect(
            door.metrics.render().contains("purser_gateway_security_events_total{event=\"\(event.rawValue)\"} 1\n"))
    }

    /// S43: whatever happens, no line holds a token, a JWS or a body.
    @Test func `no secret reaches a log line or another caller's answer`() async throws {
        let canary = "canary0123456789"
        let outcomes: [ScriptedAsker.Script] = [
            Samples.everything, { _, _ in throw RequestFailure() }, { _, _ in RequestParked(reason: "x") },
        ]
        for script in outcomes {
            let door = try TestDoor(script)
            let body =
                #"{"orderNo":"\#(canary)","signedTransactionInfo":"\#(canary).a.b","appleProductId":"\#(canary)","#
                + #""\#(canary)":1}"#
            for route in AuthenticationTests.routes {
                let address = canary + "@mail.example"
                for token in [canary, try TestTokens.make(subject: address), try TestTokens.make("clouds", .service)] {
                    _ = try await door.send(
                        route.method, route.path, body: body, token: token, query: [("cursor", canary)])
                }
            }
            #expect(try !door.log.entries("request").isEmpty)
            #expect(!door.log.lines.joined().contains(canary))
            #expect(!door.log.lines.joined().contains("eyJ"))
        }
    }

    @Test func `requests are counted and timed by route and class of status`() async throws {
        let door = try TestDoor(Samples.everything)
        _ = try await door.send("GET", "/api/wallet/balance")
        _ = try await door.send("GET", "/api/wallet/balance", token: .some(nil))
        _ = try await door.send("GET", "/nowhere")
        _ = door.door.refuse(.overloaded(.requests))
        let text = door.metrics.render()
        for line in [
            #"purser_gateway_requests_total{route="/api/wallet/balance",status="2xx"} 1"#,
            #"purser_gateway_requests_total{route="/api/wallet/balance",status="4xx"} 1"#,
            #"purser_gateway_requests_total{route="-",status="4xx"} 1"#,
            #"purser_gateway_requests_total{route="-",status="5xx"} 1"#,
            #"purser_gateway_request_duration_seconds_count{route="/api/wallet/balance"} 2"#,
            "purser_gateway_requests_in_flight 0", "purser_gateway_questions_waiting 0",
        ] {
            #expect(text.contains(line + "\n"), "\(line)")
        }
    }
}

/// An error the asker must not throw; it becomes an internal error.
struct RequestFailure: Error {}
