import Messages
import Testing

@testable import Gateway

@Suite struct TextTests {
    @Test(
        arguments: [
            ("1970-01-01T00:00:00Z", 0), ("2026-11-30T09:05:07.042Z", 1_796_029_507_042),
            ("2026-11-30t09:05:07z", 1_796_029_507_000), ("2026-11-30T10:05:07+01:00", 1_796_029_507_000),
            ("2026-11-29T21:35:07.0429999-11:30", 1_796_029_507_042), ("2000-02-29T00:00:00Z", 951_782_400_000),
            ("9999-12-31T23:59:59.999Z", 253_402_300_799_999),
        ] as [(String, Int64)])
    func `an instant is read`(_ text: String, _ milliseconds: Int64) {
        #expect(RFC3339.parse(text) == milliseconds)
    }

    @Test(arguments: [
        "", "2026-11-30", "2026-11-30T09:05:07", "2026-11-30 09:05:07Z", "2026-13-01T00:00:00Z",
        "2025-02-29T00:00:00Z", "2026-02-30T00:00:00Z", "2026-11-31T00:00:00Z", "1900-01-01T00:00:00Z",
        "2026-11-30T24:00:00Z", "2026-11-30T09:60:00Z", "2026-11-30T09:05:60Z", "2026-11-30T09:05:07.Z",
        "2026-11-30T09:05:07.1234567890Z", "2026-11-30T09:05:07+1:00", "2026-11-30T09:05:07+24:00",
        "2026-11-30T09:05:07Z ", "+026-11-30T09:05:07Z", "2026-11-30T09:05:07z+01:00", "1970-01-01T00:00:00+01:00",
        "２026-11-30T09:05:07Z",
    ])
    func `anything else is no instant`(_ text: String) {
        #expect(RFC3339.parse(text) == nil)
    }

    @Test(arguments: Array(stride(from: Int64(0), to: 4_000_000_000_000, by: 7_654_321_987)))
    func `what is written is read again`(_ milliseconds: Int64) {
        #expect(RFC3339.parse(RFC3339.format(milliseconds)) == milliseconds)
    }

    @Test func `an order number is made of the UTC date and twelve digits, no two alike (A-028)`() {
        let draws = (0..<1_000).map { _ in OrderDraw(now: 1_780_012_799_999) }
        #expect(Set(draws.map(\.orderNumber)).count == draws.count)
        #expect(Set(draws.map(\.appAccountToken)).count == draws.count)
        #expect(draws.allSatisfy { $0.orderNumber.rawValue.wholeMatch(of: /IAP20260528[0-9]{12}/) != nil })
        let next = OrderDraw(now: 1_780_012_800_000)
        #expect(next.orderNumber.rawValue.hasPrefix("IAP20260529"))
    }

    @Test(arguments: [(" a ", "a"), ("\t\r\na b\u{0B}\u{0C}", "a b"), ("", ""), (" \n", ""), ("\u{A0}a", "\u{A0}a")])
    func `only ASCII white space at the ends is cut off`(_ text: String, _ trimmed: String) {
        #expect(PlainText.trimmed(text) == trimmed)
    }

    @Test(
        arguments: [
            ("a.example", "a.example"), ("A.Example:80", "a.example"), ("a.example.", "a.example"),
            ("[::1]:80", "[::1]"),
            ("", nil), (":80", nil), ("[::1", nil),
        ] as [(String, String?)])
    func `a host name is taken out of the Host field`(_ field: String, _ name: String?) {
        #expect(AppDirectory.hostName(field) == name)
    }
}
