import Glibc
import HTTPServer
import TestSupport
import Testing

@testable import HTTPClient

/// What a stranger's URL may not reach.
@Suite struct PeerAddressTests {
    private static func version4(_ text: String) -> UInt32 {
        text.split(separator: ".").reduce(0) { $0 << 8 | (UInt32($1) ?? 0) }
    }

    @Test(arguments: [
        ("0.0.0.0", true), ("10.0.0.1", true), ("100.64.0.1", true), ("100.128.0.1", false), ("127.0.0.1", true),
        ("127.255.255.255", true), ("169.254.169.254", true), ("172.15.0.1", false), ("172.16.0.1", true),
        ("172.31.255.255", true), ("172.32.0.1", false), ("192.168.1.1", true), ("192.0.0.8", true),
        ("198.18.0.1", true), ("198.20.0.1", false), ("17.253.144.10", false), ("224.0.0.1", true),
        ("255.255.255.255", true), ("8.8.8.8", false), ("203.0.113.1", true),
    ])
    func `addresses of this machine and its networks are told from public ones (S15)`(text: String, isPrivate: Bool) {
        #expect(PeerAddress.isPrivate(version4: Self.version4(text)) == isPrivate)
    }

    @Test(arguments: [
        ("::", true), ("::1", true), ("::ffff:127.0.0.1", true), ("::ffff:8.8.8.8", false), ("::7f00:1", true),
        ("64:ff9b::a00:1", true), ("64:ff9b::808:808", false), ("2002:7f00:1::", true), ("2002:808:808::", false),
        ("2001::1", true), ("2001:db8::1", true), ("2620:149:af0::10", false), ("fc00::1", true), ("fe80::1", true),
        ("fec0::1", true), ("ff02::1", true), ("100::1", true),
    ])
    func `the same of version 6, whatever older addresses hide in them (S15)`(text: String, isPrivate: Bool) {
        var bytes = [UInt8](repeating: 0, count: 16)
        #expect(inet_pton(AF_INET6, text, &bytes) == 1)
        #expect(PeerAddress.isPrivate(version6: bytes) == isPrivate)
    }

    @Test(arguments: ["127.0.0.1", "localhost", "[::1]", "0.0.0.0", "0x7f000001", "2130706433", "127.1"])
    func `a private address is refused before anything is sent, whatever name it hides behind (S15)`(host: String)
        async throws
    {
        try await onThread {
            let server = try HTTPServer.start(.init(), bodyLimit: { _, _ in 1 << 10 }) { _ in
                Issue.record("it was asked")
                return HTTPResponse(status: 200)
            }
            defer { server.stop(grace: .zero) }
            var configuration = HTTPClient.Configuration()
            configuration.allowsPrivateAddresses = false
            var client = try HTTPClient.open(configuration)
            #expect(throws: HTTPClientError.privateAddress) {
                try client.send(HTTPClientRequest("GET", "http://\(host):\(server.port)/"))
            }
        }
    }
}
