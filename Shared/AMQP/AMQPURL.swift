import Observability

/// The RabbitMQ URI form of an endpoint. Errors quote no part of the URL: it holds the password.
enum AMQPURL {
    static func parse(_ url: String) throws(AMQPError) -> AMQPEndpoint {
        let isSecure: Bool
        var rest: Substring
        if url.hasPrefix("amqp://") {
            (isSecure, rest) = (false, url.dropFirst(7))
        } else if url.hasPrefix("amqps://") {
            (isSecure, rest) = (true, url.dropFirst(8))
        } else {
            throw .invalidURL(reason: "it must begin with amqp:// or amqps://")
        }
        let query = cut(&rest, at: "?")
        let path = cut(&rest, at: "/")
        let (user, password) = try credentials(of: &rest)
        let (host, port) = try hostAndPort(rest, defaultPort: isSecure ? 5671 : 5672)
        var endpoint = AMQPEndpoint(
            host: host, port: port, user: user, password: Secret(password),
            virtualHost: try path.map(decoded) ?? "/", tls: isSecure ? .init() : nil)
        // "amqp://host/" means the default virtual host to every user, though the letter says the empty one.
        if endpoint.virtualHost.isEmpty { endpoint.virtualHost = "/" }
        if let query { try apply(query, to: &endpoint) }
        return endpoint
    }

    private static func cut(_ text: inout Substring, at separator: Character) -> Substring? {
        guard let index = text.firstIndex(of: separator) else { return nil }
        let tail = text[text.index(after: index)...]
        text = text[..<index]
        return tail
    }

    private static func credentials(of text: inout Substring) throws(AMQPError) -> (user: String, password: String) {
        guard let at = text.lastIndex(of: "@") else { return ("guest", "guest") }
        var user = text[..<at]
        text = text[text.index(after: at)...]
        let password = cut(&user, at: ":") ?? ""
        return (try decoded(user), try decoded(password))
    }

    private static func hostAndPort(_ text: Substring, defaultPort: Int) throws(AMQPError) -> (String, Int) {
        var rest = text
        let host: Substring
        if rest.hasPrefix("[") {
            guard let end = rest.firstIndex(of: "]") else { throw .invalidURL(reason: "the address lacks its ]") }
            host = rest[rest.index(after: rest.startIndex)..<end]
            rest = rest[rest.index(after: end)...]
        } else {
            host = rest.prefix { $0 != ":" }
            rest = rest[host.endIndex...]
        }
        guard !host.isEmpty else { throw .invalidURL(reason: "the host is missing") }
        guard !rest.isEmpty else { return (try decoded(host), defaultPort) }
        guard rest.first == ":", let port = Int(rest.dropFirst()), (1...65_535).contains(port) else {
            throw .invalidURL(reason: "the port is not a number from 1 to 65535")
        }
        return (try decoded(host), port)
    }

    private static func apply(_ query: Substring, to endpoint: inout AMQPEndpoint) throws(AMQPError) {
        for pair in query.split(separator: "&") {
            var name = pair
            let value = try decoded(cut(&name, at: "=") ?? "")
            switch name {
            case "heartbeat":
                // The protocol counts in 16 bits; 0 would turn heartbeats off.
                guard let seconds = Int(value), (1...65_535).contains(seconds) else {
                    throw .invalidURL(reason: "heartbeat is not a number of seconds from 1 to 65535")
                }
                endpoint.heartbeat = seconds
            case "cacertfile": endpoint.tls?.authorityFile = value
            case "certfile": endpoint.tls?.certificateFile = value
            case "keyfile": endpoint.tls?.keyFile = value
            default: throw .invalidURL(reason: "it has a query parameter that is not known")
            }
        }
    }

    private static func decoded(_ text: Substring) throws(AMQPError) -> String {
        var bytes: [UInt8] = []
        var rest = text.utf8
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.popFirst().flatMap(hexadecimal), let low = rest.popFirst().flatMap(hexadecimal) else {
                throw .invalidURL(reason: "a percent sign is not followed by two hexadecimal digits")
            }
            bytes.append(high << 4 | low)
        }
        guard !bytes.contains(0), let text = String(validating: bytes, as: UTF8.self) else {
            throw .invalidURL(reason: "it is not valid UTF-8")
        }
        return text
    }

    private static func hexadecimal(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
