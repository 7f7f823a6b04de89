import Glibc
import TestSupport
import Testing
import WebSocket

/// What sockets cost that say nothing.
@Suite(.serialized) struct IdleSocketTests {
    @Test func `two thousand idle sockets cost little`() async throws {
        let sockets = 2_000
        var limits = WebSocketLimits()
        limits.maximumConnectionsPerAddress = sockets + 1
        try Self.allowDescriptors(UInt(2 * sockets + 200))
        let server = try SocketServer(limits)
        try await onThread {
            let first = try SocketClient(port: server.port)
            let before = Self.residentBytes()
            let clients = try (0..<sockets).map { _ in try SocketClient(port: server.port) }
            let each = (Self.residentBytes() - before) / sockets
            print("an idle socket costs \(each) bytes, its test client included")
            #expect(each < 32 << 10)
            for client in [clients[0], clients[sockets / 2], clients[sockets - 1]] {
                client.send(2, [1])
                #expect(try client.receive()?.payload == [1])
            }
            for client in clients { client.raw.disconnect() }
            try eventually { server.hub.count == 1 }
            first.raw.disconnect()
        }
    }

    private static func allowDescriptors(_ count: UInt) throws {
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        guard limit.rlim_cur < count else { return }
        limit.rlim_cur = min(count, limit.rlim_max)
        #expect(setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
    }

    private static func residentBytes() -> Int {
        guard let file = fopen("/proc/self/statm", "r") else { return 0 }
        defer { fclose(file) }
        var text = [CChar](repeating: 0, count: 200)
        fgets(&text, 200, file)
        let words = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            .split(separator: " ")
        return words.count > 1 ? (Int(words[1]) ?? 0) * Int(getpagesize()) : 0
    }
}
