/// Where a responder is, as a certificate says it: text of a stranger, however trusted the certificate is.
struct ResponderAddress: Equatable {
    /// The URL to send to, as the certificate has it.
    let url: String
    /// The host, lower case, with its port where it is not the scheme's own.
    let host: String

    /// Reads an absolute http or https URL of plain form; nil for everything that two readers could read differently: a
    /// user before the host, a backslash, anything but visible ASCII, an empty or odd host, a port that is none.
    init?(_ text: String) {
        guard text.utf8.allSatisfy({ (0x21...0x7E).contains($0) && !#"\"<>^`{|}"#.utf8.contains($0) }) else {
            return nil
        }
        let defaultPort: Int
        let rest: Substring
        if let found = Self.drop("http://", from: text) {
            (rest, defaultPort) = (found, 80)
        } else if let found = Self.drop("https://", from: text) {
            (rest, defaultPort) = (found, 443)
        } else {
            return nil
        }
        let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        guard !authority.contains("@"), !authority.contains("%"), !rest.contains("#") else { return nil }
        // An IPv6 literal has its colons in brackets.
        let name: Substring
        let tail: Substring
        if authority.hasPrefix("[") {
            guard let end = authority.firstIndex(of: "]") else { return nil }
            (name, tail) = (authority[...end], authority[authority.index(after: end)...])
        } else {
            name = authority.prefix { $0 != ":" }
            tail = authority.dropFirst(name.count)
        }
        guard !name.isEmpty, tail.isEmpty || tail.hasPrefix(":") else { return nil }
        var port = defaultPort
        if !tail.isEmpty {
            let digits = tail.dropFirst()
            guard (1...5).contains(digits.count), digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
                let number = Int(digits), (1...65_535).contains(number)
            else { return nil }
            port = number
        }
        url = text
        host = name.lowercased() + (port == defaultPort ? "" : ":\(port)")
    }

    private static func drop(_ scheme: String, from text: String) -> Substring? {
        text.prefix(scheme.count).lowercased() == scheme ? text.dropFirst(scheme.count) : nil
    }
}
