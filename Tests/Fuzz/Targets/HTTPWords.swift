/// Requests to begin with, words to damage them with, and what must hold for every request that a handler gets.
enum HTTPWords {
    static let all = [
        "\r\n", "\n", "\r", "\r\n\r\n", " ", "\t", ":", "%00", "%0d%0a", "%2e%2e", "%2f", "%c0%af", "%ff", "/../", "//",
        "?",
        "&", "=", "#", "HTTP/1.1", "HTTP/1.0", "HTTP/2.0", "http://a/", "*", "Host: a\r\n", "Host: b\r\n",
        "Content-Length: 3\r\n", "Content-Length: 0\r\n", "Content-Length: -1\r\n",
        "Content-Length: 99999999999999999999\r\n",
        "Transfer-Encoding: chunked\r\n", "Transfer-Encoding: gzip, chunked\r\n", "Transfer-Encoding : chunked\r\n",
        "Content-Encoding: gzip\r\n", "Expect: 100-continue\r\n", "Connection: close\r\n", "Upgrade: h2c\r\n",
        " folded\r\n",
        "0\r\n\r\n", "3\r\nabc\r\n", "ffffffffffffffff\r\n", "3;x=y\r\n", "GET / HTTP/1.1\r\nHost: a\r\n\r\n", "\u{0}",
    ]

    static let requests: [[UInt8]] = [
        "GET / HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /a%20b/%E8%9B%8B?x=y&z HTTP/1.1\r\nHost: a.example:80\r\nX: y\r\n\r\n",
        "POST /p HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nContent-Type: application/json\r\n\r\nabc",
        "POST /p HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n",
        "GET /1 HTTP/1.1\r\nHost: a\r\n\r\nGET /2 HTTP/1.1\r\nHost: a\r\n\r\n",
        "HEAD /h HTTP/1.0\r\nHost: [::1]\r\n\r\n",
        "PURGE /x HTTP/1.1\r\nHost: a\r\nCookie: a=b; c=d\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\nok",
    ].map { Array($0.utf8) }

    static func check(
        method: String, path: String, headers: [(name: String, value: String)]
    ) throws(Violation) {
        let isMethod = !method.isEmpty && method.utf8.allSatisfy { (0x21...0x7E).contains($0) }
        try Violation.unless(isMethod, "a method that is no token")
        try Violation.unless(path.hasPrefix("/"), "a path without a slash")
        let isPlain = path.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F }
        try Violation.unless(isPlain, "a control character in the path")
        let segments = path.split(separator: "/")
        try Violation.unless(!segments.contains(".") && !segments.contains(".."), "a dot segment in the path")
        var hosts = 0
        var framings = 0
        for (name, value) in headers {
            let isName = !name.isEmpty && name.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != 0x3A }
            try Violation.unless(isName, "a field name that is no token")
            let isValue = value.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F || $0.value == 9 }
            try Violation.unless(isValue, "a control character in a field")
            switch name.lowercased() {
            case "host": hosts += 1
            case "content-length", "transfer-encoding": framings += 1
            default: break
            }
        }
        try Violation.unless(hosts == 1, "\(hosts) Host fields")
        try Violation.unless(framings <= 1, "\(framings) fields say how long the body is")
    }
}
