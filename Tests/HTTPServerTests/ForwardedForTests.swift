import HTTPServer
import Testing

/// Who is behind a proxy, and whom a stranger can pretend to be: nobody.
@Suite struct ForwardedForTests {
    private static let trusted = "127.0.0.1, 10.0.0.0/8, 2001:db8:ffff::/48"

    @Test(
        arguments: [
            // The peer is no trusted proxy: what it claims is not looked at.
            ("198.51.100.1", ["203.0.113.9"], "198.51.100.1"),
            ("2001:db8::1", ["203.0.113.9"], "2001:db8::1"),
            // The proxy appended the address it was called from.
            ("127.0.0.1", ["203.0.113.9"], "203.0.113.9"),
            ("127.0.0.1", ["203.0.113.9:4711"], "203.0.113.9"),
            ("127.0.0.1", ["2001:db8::1"], "2001:db8::1"),
            ("127.0.0.1", ["[2001:db8::1]"], "2001:db8::1"),
            ("127.0.0.1", ["[2001:db8::1]:443"], "2001:db8::1"),
            ("127.0.0.1", ["::ffff:203.0.113.9"], "203.0.113.9"),
            ("2001:db8:ffff::2", ["  203.0.113.9\t"], "203.0.113.9"),
            // What stands further left was written by the client itself.
            ("127.0.0.1", ["1.2.3.4, 203.0.113.9"], "203.0.113.9"),
            ("127.0.0.1", ["127.0.0.1, 203.0.113.9"], "203.0.113.9"),
            ("127.0.0.1", ["<script>, , 203.0.113.9"], "203.0.113.9"),
            ("127.0.0.1", ["1.2.3.4", "203.0.113.9"], "203.0.113.9"),
            // Trusted proxies in a row are passed over.
            ("127.0.0.1", ["1.2.3.4, 203.0.113.9, 10.1.2.3"], "203.0.113.9"),
            ("127.0.0.1", ["203.0.113.9", "10.1.2.3, 10.3.2.1"], "203.0.113.9"),
            ("127.0.0.1", ["10.9.9.9, 10.1.2.3"], "10.9.9.9"),
            // Garbage where it matters: the peer.
            ("127.0.0.1", [], "127.0.0.1"), ("127.0.0.1", [""], "127.0.0.1"), ("127.0.0.1", [","], "127.0.0.1"),
            ("127.0.0.1", ["unknown"], "127.0.0.1"), ("127.0.0.1", ["203.0.113.9, x"], "127.0.0.1"),
            ("127.0.0.1", ["203.0.113.9, x, 10.1.2.3"], "127.0.0.1"),
            ("127.0.0.1", ["203.0.113"], "127.0.0.1"), ("127.0.0.1", ["203.0.113.09"], "127.0.0.1"),
            ("127.0.0.1", ["203.0.113.9:"], "127.0.0.1"), ("127.0.0.1", ["203.0.113.9:x"], "127.0.0.1"),
            ("127.0.0.1", ["203.0.113.9:123456"], "127.0.0.1"), ("127.0.0.1", ["[203.0.113.9]"], "127.0.0.1"),
            ("127.0.0.1", ["[2001:db8::1"], "127.0.0.1"), ("127.0.0.1", ["[2001:db8::1]x"], "127.0.0.1"),
            ("127.0.0.1", ["fe80::1%eth0"], "127.0.0.1"),
            ("127.0.0.1", [String(repeating: "1", count: 65)], "127.0.0.1"),
            ("127.0.0.1", ["203.0.113.9" + String(repeating: ", 10.1.2.3", count: 16)], "127.0.0.1"),
        ] as [(String, [String], String)])
    func `the client is the right-most address that no trusted proxy has (S42)`(
        _ peer: String, _ values: [String], _ client: String
    ) throws {
        let found = ForwardedFor.client(
            peer: try #require(IPAddress(peer)), values: values, trusted: try AddressList(Self.trusted))
        #expect(found.description == client)
    }

    @Test(
        arguments: [
            ("127.0.0.1", ["127.0.0.1", "::ffff:127.0.0.1"], ["127.0.0.2", "::1"]),
            ("10.0.0.0/8", ["10.0.0.0", "10.255.255.255"], ["11.0.0.0", "9.255.255.255", "::10.0.0.1"]),
            ("192.0.2.128/25 , 198.51.100.7", ["192.0.2.128", "198.51.100.7"], ["192.0.2.127", "198.51.100.8"]),
            ("2001:db8::/32", ["2001:db8::", "2001:db8:ffff::1"], ["2001:db9::", "32.1.13.184"]),
            ("2001:db8:0:0:8000::/65", ["2001:db8::8000:0:0:1"], ["2001:db8::1"]),
            ("0.0.0.0/0", ["0.0.0.0", "255.255.255.255"], ["::1"]),
            ("::/0", ["::1", "192.0.2.1"], []), ("", [], ["127.0.0.1"]),
        ] as [(String, [String], [String])])
    func `a list contains its networks`(_ text: String, _ inside: [String], _ outside: [String]) throws {
        let list = try AddressList(text)
        for address in inside { #expect(list.contains(try #require(IPAddress(address))), "\(address)") }
        for address in outside { #expect(!list.contains(try #require(IPAddress(address))), "\(address)") }
    }

    @Test(arguments: [
        "localhost", "10.0.0.0/33", "10.0.0.1/8", "10.0.0.0/", "10.0.0.0/+8", "10.0.0.0/8/8", "2001:db8::/129",
        "2001:db8::1/32", "127.0.0.1:80", "[::1]",
    ])
    func `what is no network is named`(_ entry: String) {
        #expect(throws: AddressList.Unreadable(entry: entry)) { try AddressList("127.0.0.1, \(entry)") }
    }
}
