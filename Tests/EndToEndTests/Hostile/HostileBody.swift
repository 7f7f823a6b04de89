/// Bodies for `POST /api/iap/orders`, and the status and code they must be answered with.
enum HostileBody {
    typealias Example = (name: String, type: String?, body: [UInt8], status: Int, code: String)

    private static let json = "application/json"

    private static func malformed(_ name: String, _ text: String) -> Example {
        (name, json, Array(text.utf8), 400, "MALFORMED_REQUEST")
    }

    /// Answered while the connection stays usable.
    static let all: [Example] =
        [
            malformed("nothing", ""), malformed("white space", "  \n"), malformed("garbage", "garbage"),
            malformed("null", "null"),
            malformed("a list", "[]"), malformed("a text", "\"appleProductId\""),
            malformed("another member", "{}"), malformed("half an object", "{\"appleProductId\":\"a\""),
            malformed("bytes behind the object", "{\"appleProductId\":\"a\"}x"),
            malformed("two objects", "{\"appleProductId\":\"a\"}{}"),
            malformed("the same key twice", "{\"appleProductId\":\"pyy_danbing_60\",\"appleProductId\":\"b\"}"),
            malformed(
                "the same key, escaped", "{\"appleProductId\":\"pyy_danbing_60\",\"\\u0061ppleProductId\":\"b\"}"),
            malformed("a number", "{\"appleProductId\":1}"), malformed("a truth", "{\"appleProductId\":true}"),
            malformed("null as text", "{\"appleProductId\":null}"),
            malformed("an empty text", "{\"appleProductId\":\"\"}"),
            malformed("a text of 129 bytes", "{\"appleProductId\":\"\(String(repeating: "a", count: 129))\"}"),
            malformed("an escaped NUL", "{\"appleProductId\":\"a\\u0000b\"}"),
            malformed("a control character", "{\"appleProductId\":\"a\u{1}b\"}"),
            malformed("an escaped control character", "{\"appleProductId\":\"a\\u001b[31m\"}"),
            malformed("half a surrogate pair", "{\"appleProductId\":\"\\ud800\"}"),
            malformed("a pair the wrong way round", "{\"appleProductId\":\"\\ude00\\ud83d\"}"),
            malformed("a byte order mark", "\u{FEFF}{\"appleProductId\":\"pyy_danbing_60\"}"),
            malformed("a comment", "{/**/\"appleProductId\":\"a\"}"),
            malformed("a last comma", "{\"appleProductId\":\"a\",}"),
            malformed("single quotes", "{'appleProductId':'a'}"),
            malformed("NaN", "{\"appleProductId\":\"a\",\"x\":NaN}"),
            malformed("01", "{\"appleProductId\":\"a\",\"x\":01}"),
            malformed("65 members", "{" + (0..<65).map { "\"k\($0)\":0" }.joined(separator: ",") + "}"),
            malformed(
                "seventeen levels", String(repeating: "{\"a\":", count: 17) + "1" + String(repeating: "}", count: 17)),
            malformed("four thousand lists", String(repeating: "[", count: 4_000)),
            (
                "not UTF-8", json, Array("{\"appleProductId\":\"".utf8) + [0xC3, 0x28] + Array("\"}".utf8), 400,
                "MALFORMED_REQUEST"
            ),
            (
                "an encoded surrogate", json,
                Array("{\"appleProductId\":\"".utf8) + [0xED, 0xA0, 0x80] + Array("\"}".utf8), 400, "MALFORMED_REQUEST"
            ),
            ("UTF-16", json, [0xFF, 0xFE, 0x7B, 0, 0x7D, 0], 400, "MALFORMED_REQUEST"),
        ]
        + [
            nil, "", "text/plain", "application/json5", "application/x-www-form-urlencoded",
            "multipart/form-data; boundary=x",
            "application/json; charset=utf-16", "text/json", "application/problem+json", "application/json, text/html",
        ].map { type in
            (
                "of type \(type ?? "none")", type, Array("{\"appleProductId\":\"pyy_danbing_60\"}".utf8), 415,
                "UNSUPPORTED_MEDIA_TYPE"
            )
        }
        + [
            "'; DROP TABLE granting.orders; --", "%", "_", "\\\\", "é", "e\\u0301", "\\u202etxt", "<script>",
            "${jndi:ldap://x}", "😀",
        ].map { text in
            (
                "for the product \(text)", json, Array("{\"appleProductId\":\"\(text)\"}".utf8), 404,
                "UNKNOWN_APPLE_PRODUCT_ID"
            )
        }

    typealias Early = (name: String, fields: String, size: Int, status: Int, code: String)

    /// Refused before the body is read; the connection is closed.
    static let refusedEarly: [Early] = [
        ("gzip", "Content-Encoding: gzip\r\n", 100, 415, "UNSUPPORTED_MEDIA_TYPE"),
        ("deflate inside br", "Content-Encoding: br, deflate\r\n", 100, 415, "UNSUPPORTED_MEDIA_TYPE"),
        ("five thousand bytes", "", 5_000, 413, "PAYLOAD_TOO_LARGE"),
        ("ten megabytes", "", 10 << 20, 413, "PAYLOAD_TOO_LARGE"),
        ("ten megabytes, announced", "Expect: 100-continue\r\n", 10 << 20, 413, "PAYLOAD_TOO_LARGE"),
    ]

    /// A whole request; nothing of it is checked here.
    static func request(
        _ path: String, token: String, type: String?, body: [UInt8], _ fields: String = ""
    ) -> [UInt8] {
        var head = "POST \(path) HTTP/1.1\r\nHost: a.example\r\nAuthorization: Bearer \(token)\r\n"
        if let type { head += "Content-Type: \(type)\r\n" }
        head += fields + "Content-Length: \(body.count)\r\n\r\n"
        return Array(head.utf8) + body
    }
}
