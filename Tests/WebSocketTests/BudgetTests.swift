import Glibc
import TestSupport
import Testing
import WebSocket

/// What messages of all sockets together may take.
@Suite struct BudgetTests {
    @Test func `a message counts until it is answered, or its socket is over`() throws {
        for isAnswered in [true, false] {
            var pair: [Int32] = [0, 0]
            #expect(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &pair) == 0)
            defer { close(pair[0]) }
            let budget = WebSocketBudget()
            let peer = try #require(
                WebSocketPeer(descriptor: pair[1], limits: WebSocketLimits(), budget: budget))
            let frame = SocketClient.frame(2, [UInt8](repeating: 7, count: 300))
            #expect(write(pair[0], frame, frame.count) == frame.count)
            peer.readable()
            #expect(budget.used == 300 && peer.takeMessage()?.count == 300)
            #expect(budget.used == 300, "somebody works on it")
            if isAnswered {
                peer.answer(.message([1]))
                #expect(budget.used == 0)
            }
            peer.release()
            #expect(budget.used == 0)
        }
    }
}
