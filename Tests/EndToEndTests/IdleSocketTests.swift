import AppStoreSimulation
import GameProtocol
import Glibc
import TestSupport
import Testing

/// What sockets cost the gateway that say nothing.
@Suite(.serialized) struct IdleSocketTests {
    private static let sockets = 2_000
    /// A frame context, a peer, a token, a place in the tables: some kilobytes.
    private static let mostBytesEach = 32 << 10

    @Test func `two thousand idle sockets cost the gateway little, and a purchase passes among them (C-029)`()
        async throws
    {
        try await onThread {
            try Self.allowDescriptors()
            let deployment = try Deployment.start("sockets", on: try Platform.shared())
            defer { deployment.remove() }
            let gateway = try #require(deployment.process(.gateway))
            let port = UInt16(deployment.port("gateway"))
            func open(_ number: Int) throws -> SocketClient {
                // A game's players come from as many networks, by way of one proxy.
                try SocketClient(
                    port: port, path: "/iap/ws",
                    fields: [
                        "Host: game.localhost", "X-Forwarded-For: 203.\(number >> 8 & 255).\(number & 255).7",
                        "Authorization: Bearer \(try deployment.gameToken("idle-\(number)"))",
                    ])
            }
            let first = try (0..<50).map(open)
            let before = try Self.residentBytes(of: gateway.pid)
            let rest = try (50..<Self.sockets).map(open)
            let each = (try Self.residentBytes(of: gateway.pid) - before) / (Self.sockets - 50)
            print("\(Self.sockets) idle sockets: \(each) bytes of the gateway's memory each")
            #expect(each < Self.mostBytesEach)
            let game = try deployment.game("sockets-anna")
            guard case .delivered(let answer) = try game.buy("com.ninjafall.gem_pack_1") else {
                Issue.record("not delivered")
                return
            }
            #expect(answer.balance == 60)
            // Each of them is still served.
            for client in [first[0], rest[0], rest[rest.count - 1]] {
                client.send(2, GameMessage.history(HistoryQuestion()).encoded())
                #expect(try client.receive()?.payload == [0, 53])
            }
        }
    }

    private static func allowDescriptors() throws {
        var limit = rlimit()
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        getrlimit(resource, &limit)
        limit.rlim_cur = max(limit.rlim_cur, min(rlim_t(sockets + 500), limit.rlim_max))
        #expect(setrlimit(resource, &limit) == 0)
    }

    private static func residentBytes(of process: Int32) throws -> Int {
        let words = TextFiles.read("/proc/\(process)/statm").split(separator: " ")
        return words.count > 1 ? (Int(words[1]) ?? 0) * Int(getpagesize()) : 0
    }
}
