/// Who is behind a proxy, by the field `X-Forwarded-For`.
///
/// Every proxy appends the address it was called from, so only what trusted proxies appended can be believed: the list is
/// read from its end, over the trusted proxies in it, to the first address that is none of them. Everything further left
/// was written by a stranger and is not looked at.
public enum ForwardedFor {
    /// The name of the field.
    public static let field = "X-Forwarded-For"
    /// More proxies in a row than this are no chain of anybody's own; what is longer is garbage.
    private static let longestChain = 16

    /// The client's address.
    ///
    /// - Parameters:
    ///   - peer: who has opened the connection. Unless it is trusted it is the client, whatever it claims.
    ///   - values: the values of all fields of this name, in order.
    ///   - trusted: the proxies.
    /// - Returns: the right-most address that is not trusted; the left-most one if all are trusted (a call from inside);
    ///   the peer if the field is missing or cannot be read as far as it matters.
    public static func client(peer: IPAddress, values: [String], trusted: AddressList) -> IPAddress {
        guard !trusted.isEmpty, trusted.contains(peer), !values.isEmpty else { return peer }
        var client: IPAddress?
        var hops = 0
        for value in values.reversed() {
            for element in value.split(separator: ",", omittingEmptySubsequences: false).reversed() {
                hops += 1
                guard hops <= longestChain, let address = address(element) else { return peer }
                guard trusted.contains(address) else { return address }
                client = address
            }
        }
        return client ?? peer
    }

    /// An element as proxies write it: an address, with a port or without, IPv6 in brackets or without.
    static func address(_ element: Substring) -> IPAddress? {
        // The longest is an IPv6 address with an embedded IPv4 one, in brackets with a port: 53 characters.
        guard element.utf8.count <= 64 else { return nil }
        var text = element
        while let first = text.first, first == " " || first == "\t" { text.removeFirst() }
        while let last = text.last, last == " " || last == "\t" { text.removeLast() }
        if text.first == "[" {
            guard let end = text.firstIndex(of: "]"), isPort(text[text.index(after: end)...]) else { return nil }
            let inside = text[text.index(after: text.startIndex)..<end]
            return inside.contains(":") ? IPAddress(String(inside)) : nil
        }
        // One colon: an IPv4 address with its port. Several: an IPv6 address.
        if let colon = text.firstIndex(of: ":"), colon == text.lastIndex(of: ":") {
            guard isPort(text[colon...]) else { return nil }
            text = text[..<colon]
        }
        return IPAddress(String(text))
    }

    /// Whether a text is empty or a colon and a port.
    private static func isPort(_ text: Substring) -> Bool {
        guard let colon = text.first else { return true }
        let digits = text.dropFirst()
        return colon == ":" && (1...5).contains(digits.utf8.count)
            && digits.utf8.allSatisfy { (0x30...0x39).contains($0) }
    }
}
