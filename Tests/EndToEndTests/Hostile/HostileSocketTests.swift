import AppStoreSimulation
import Glibc
import HTTPClient
import JSON
import TestSupport
import Testing

/// What strangers send to the ports of the real processes: each is answered precisely or cut off, and nobody else notices.
@Suite(.timeLimit(.minutes(5))) struct HostileSocketTests {
    /// What no hostile request may make of a gateway (KiB); 64 MiB are its target at full speed.
    private static let memory = 128 << 10

    private static func port(_ deployment: Deployment, _ use: String = "gateway") -> UInt16 {
        UInt16(clamping: deployment.port(use))
    }

    private static func attempt(_ request: HostileRequest, _ port: UInt16) throws {
        let client = try RawClient(port: port)
        client.send(request.bytes)
        let answer = try client.answer()
        #expect(HostileRequest.ending(of: answer) == request.ending, "\(request.name): \(answer?.head ?? "")")
        if request.closes {
            let rest = try client.restUntilClosed()
            #expect(!rest.contains("HTTP/1.1 2") && !rest.contains("HTTP/1.1 404"), "\(request.name): a second answer")
        }
    }

    @Test func `a head that is no head is answered by its problem or cut off, and nobody else notices (S41, S45)`()
        async throws
    {
        let deployment = try await Deployment.shared("hostile")
        try await onThread {
            let pids = deployment.pids()
            let neighbour = Neighbour(deployment)
            for request in HostileRequest.framings + HostileRequest.chunks + HostileRequest.lines {
                do { try Self.attempt(request, Self.port(deployment)) } catch {
                    Issue.record("\(request.name): \(error)")
                }
            }
            neighbour.expectUnharmed()
            #expect(deployment.pids() == pids, "no process died")
            let peak = try deployment.peakMemory(.gateway)
            deployment.note("the gateway's most memory after hostile heads: \(peak / 1_024) MiB")
            #expect(peak < Self.memory)
        }
    }

    @Test func `a body that is no body is answered by its problem, and nobody else notices (S09, S10, S11, S51)`()
        async throws
    {
        let deployment = try await Deployment.shared("hostile")
        try await onThread {
            let pids = deployment.pids()
            let neighbour = Neighbour(deployment)
            let token = try deployment.loginToken("hostile-bodies")
            let client = try RawClient(port: Self.port(deployment))
            // All on one connection: whatever a body is, the next request is still found behind it.
            for (name, type, body, status, code) in HostileBody.all {
                client.send(HostileBody.request("/api/iap/orders", token: token, type: type, body: body))
                let answer = try client.answer()
                #expect(HostileRequest.ending(of: answer) == .problem(status, code), "\(name): \(answer?.body ?? "")")
            }
            for (name, fields, size, status, code) in HostileBody.refusedEarly {
                let client = try RawClient(port: Self.port(deployment))
                let body = [UInt8](repeating: 0x20, count: size)
                client.send(
                    HostileBody.request("/api/iap/orders", token: token, type: "application/json", body: body, fields))
                #expect(HostileRequest.ending(of: try client.answer()) == .problem(status, code), "\(name)")
            }
            neighbour.expectUnharmed()
            #expect(deployment.pids() == pids, "no process died")
            #expect(try deployment.peakMemory(.gateway) < Self.memory)
        }
    }

    @Test func `sixty-four clients with the deepest and longest bodies at once leave the gateway its memory (S09)`()
        async throws
    {
        let deployment = try await Deployment.shared("hostile")
        try await onThread {
            let token = try deployment.loginToken("hostile-crowd")
            let body = [UInt8](repeating: UInt8(ascii: "["), count: 72 << 10)
            let request = HostileBody.request(
                "/api/iap/apple/verify", token: token, type: "application/json", body: body)
            for _ in 0..<4 {
                let clients = try (0..<64).map { _ in try RawClient(port: Self.port(deployment)) }
                for client in clients { client.send(request) }
                for client in clients {
                    #expect(HostileRequest.ending(of: try client.answer()) == .problem(400, "MALFORMED_REQUEST"))
                }
            }
            let peak = try deployment.peakMemory(.gateway)
            deployment.note("the gateway's most memory after 256 bodies of 72 KiB: \(peak / 1_024) MiB")
            #expect(peak < Self.memory)
        }
    }

    @Test func `heads and bodies that trickle in end at their deadlines, all of them together (S41)`() async throws {
        let deployment = try await Deployment.shared("hostile")
        try await onThread {
            let neighbour = Neighbour(deployment)
            let port = Self.port(deployment)
            let heads = try (0..<20).map { _ in try RawClient(port: port) }
            let bodies = try (0..<20).map { _ in try RawClient(port: port) }
            for client in heads { client.send("GET / HTTP/1.1\r\n\(HostileRequest.host)X-Slow: ") }
            for client in bodies {
                client.send("POST /api/iap/orders HTTP/1.1\r\n\(HostileRequest.host)Content-Length: 4000\r\n\r\n")
            }
            // Never silent for long: only absolute deadlines end them, of 10 s for bodies and 15 s for heads.
            var open = heads + bodies
            try eventually(within: .seconds(60), every: .milliseconds(250), "all are cut off") {
                open.removeAll { !$0.send("a") }
                return open.isEmpty
            }
            neighbour.expectUnharmed()
        }
    }

    @Test func `garbage behind a good request does not harm its answer, and ends the connection`() async throws {
        let deployment = try await Deployment.shared("hostile")
        try await onThread {
            let token = try deployment.loginToken("hostile-pipeline")
            let good =
                "GET /api/wallet/balance HTTP/1.1\r\n\(HostileRequest.host)Authorization: Bearer \(token)\r\n\r\n"
            for garbage in [
                "\u{1}\u{2}garbage\r\n\r\n", "GET /%zz HTTP/1.1\r\n\r\n", "]\r\n\r\n",
                good.replacing("GET", with: "G ET"),
            ] {
                let client = try RawClient(port: Self.port(deployment))
                client.send(good + good + garbage + good)
                #expect(try client.answer()?.status == 200)
                #expect(try client.answer()?.status == 200)
                #expect(!(try client.restUntilClosed().contains("HTTP/1.1 2")), "\(garbage.prefix(10))")
            }
        }
    }

    @Test(arguments: ["gateway.metrics", "verification.metrics", "granting.metrics"])
    func `the metrics ports refuse what is hostile and go on (S41)`(port: String) async throws {
        let deployment = try await Deployment.shared("hostile")
        try await onThread {
            let pids = deployment.pids()
            let number = Self.port(deployment, port)
            for request in HostileRequest.framings + HostileRequest.chunks + HostileRequest.lines {
                let client = try RawClient(port: number)
                client.send(request.bytes)
                let status = try client.answer()?.status ?? 400
                #expect((400..<600).contains(status), "\(request.name): \(status)")
            }
            for (line, status) in [
                ("GET /livez", 200), ("HEAD /livez", 200), ("POST /livez", 405), ("DELETE /metrics", 405),
                ("GET /", 404),
                ("GET /metrics/../livez", 400),
            ] {
                let client = try RawClient(port: number)
                client.send("\(line) HTTP/1.1\r\n\(HostileRequest.host)\r\n")
                #expect(try client.answer(isHead: line.hasPrefix("HEAD"))?.status == status, "\(line)")
            }
            #expect(deployment.pids() == pids, "no process died")
        }
    }
}
